"""Prices of models, as a settings file or a file of prices has them."""

import math
from collections.abc import Mapping
from datetime import date
from typing import cast

_NUMBERS = (2, 3)


def prices_problem(value: object) -> str:
    """Return what is wrong with a table of prices; nothing if all is well, or it is empty."""
    table = cast("Mapping[str, object]", value)
    if not table:
        return ""
    if unknown := sorted(table.keys() - {"date", "models"}):
        return f"prices: there is no key {unknown[0]!r}; there are date and models"
    if not _is_day(table.get("date")):
        return "prices: date is the day of the prices, such as 2026-11-01"
    models = table.get("models")
    if not isinstance(models, dict) or not models:
        return "prices: models is a table of models, each with dollars for a million tokens"
    for name, each in cast("Mapping[str, object]", models).items():
        if not _is_price(each):
            return (
                f"prices of {name!r}: two numbers, for a million tokens in and out, and"
                " a third for those in that were cached, where they have a price of their own"
            )
    return ""


def _is_day(value: object) -> bool:
    if isinstance(value, date):
        return True
    try:
        return bool(date.fromisoformat(value) if isinstance(value, str) else None)
    except ValueError:
        return False


def _is_price(value: object) -> bool:
    if not isinstance(value, list):
        return False
    numbers = cast("list[object]", value)
    return len(numbers) in _NUMBERS and all(
        isinstance(each, int | float)
        and not isinstance(each, bool)
        and math.isfinite(each)
        and each >= 0
        for each in numbers
    )
