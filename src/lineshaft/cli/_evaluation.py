"""Margins and prices of evaluations: settings, a file given by hand, and options on top."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from lineshaft.config import Settings, prices_problem
from lineshaft.errors import ConfigError
from lineshaft.evals import GateRules, PriceTable
from lineshaft.values import DecodeError, decode, toml_table

_RULES = ("margin", "level", "cheaper", "dearer", "most_invalid", "inconclusive")


def gate_rules(
    settings: Settings, *, path: Path | None = None, inconclusive: str | None = None
) -> GateRules:
    """Return the margins of the gate.

    Args:
        settings: With the section `eval`.
        path: A file whose margins come before those of the settings.
        inconclusive: What comes before both.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value out of range.
    """
    table = {name: settings.setting(f"eval.{name}").value for name in _RULES}
    try:
        if path is not None:
            table |= toml_table(path.read_text(encoding="utf-8-sig"))
        if inconclusive is not None:
            table["inconclusive"] = inconclusive
        return decode(GateRules, table)
    except (OSError, ValueError, DecodeError) as error:
        keys = ", ".join(_RULES)
        given = "" if path is None else f" in {str(path)!r}"
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"rules of the gate{given}: {reason}", hint=f"keys: {keys}") from None


def given_rules(settings: Settings) -> Iterator[str]:
    """Yield a line for each margin that settings give, with its origin: one may be lenient."""
    for name in _RULES:
        held = settings.setting(f"eval.{name}")
        if held.giver != "default":
            yield f"the gate's {name} is {held.value}, as {held.source} says"


def price_table(settings: Settings, *, path: Path | None = None) -> PriceTable | None:
    """Return the prices of models; None: there are none.

    Args:
        settings: With `eval.prices`.
        path: A file instead of them.

    Raises:
        ConfigError: The file cannot be read, or has another form.
    """
    if path is None:
        return _table(cast("Mapping[str, object]", settings.setting("eval.prices").value))
    form = 'date = "2026-11-01"; [models]; "openai:gpt-5-mini" = [0.25, 2.0] (for a million tokens)'
    try:
        table = toml_table(path.read_text(encoding="utf-8-sig"))
        problem = prices_problem(table)
    except (OSError, ValueError) as error:
        table, problem = {}, str(getattr(error, "strerror", None) or error)
    if problem:
        raise ConfigError(f"prices in {str(path)!r}: {problem}", hint=f"write: {form}")
    return _table(table)


def _table(given: Mapping[str, object]) -> PriceTable | None:
    if not given:
        return None
    return decode(PriceTable, {**given, "date": str(given["date"])})
