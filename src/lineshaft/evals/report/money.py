"""Amounts of US dollars as texts."""

import math


def dollars(amount: float | None) -> str:
    """Return an amount with four places, or with two digits where it is too small for that.

    None, an amount that is not known, is `-`; nothing is `$0`: what has no price is no zero.
    """
    if amount is None:
        return "-"
    if amount == 0:
        return "$0"
    places = 4 if amount >= 0.01 else 1 - math.floor(math.log10(amount))
    return f"${amount:,.{places}f}"
