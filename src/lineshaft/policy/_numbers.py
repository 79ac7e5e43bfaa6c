"""Numbers among arguments: `1000`, `1000.0` and `1e3` are one number."""

import re
from decimal import Decimal

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,4})?", re.IGNORECASE)


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is; None where it is none, infinite or beyond any float."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def spellings(number: Decimal) -> tuple[str, str]:
    """Return a number without an exponent: as short as can be, and with a point.

    Args:
        number: A finite one.
    """
    digits = format(number or Decimal(0), "f")  # 0 for -0
    if "." not in digits:
        return digits, f"{digits}.0"
    short = digits.rstrip("0").removesuffix(".")
    return short, short if "." in short else f"{short}.0"
