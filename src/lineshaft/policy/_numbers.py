"""Numbers among arguments: `1000`, `1000.0` and `1e3` are one number."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import cast

_NUMBERS = ("number", "integer")
_MOST_DIGITS = 10_000


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is; None where it is none, infinite or far beyond any float."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number:
        return Decimal(0)  # for -0 and 0e9, too
    return number if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS else None


def spellings(number: Decimal) -> tuple[str, str]:
    """Return a number without an exponent: as short as can be, and with a point.

    Args:
        number: As `number_in` returned it.
    """
    digits = format(number, "f")
    if "." not in digits:
        return digits, f"{digits}.0"
    short = digits.rstrip("0").removesuffix(".")
    return short, short if "." in short else f"{short}.0"


def takes_numbers(schema: object) -> bool:
    """Return whether a JSON Schema may stand for a number, or for something with one in it.

    A tool that takes a number and a text there may read the text as a number. What a reference
    leads to is not looked at: it may be one.
    """
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            part = cast("Mapping[str, object]", item)
            if "$ref" in part:
                return True
            stack += part.values()
        elif isinstance(item, list):
            stack += cast("list[object]", item)
        elif item in _NUMBERS:
            return True
    return False
