"""Regular expressions that are compiled when they are needed: most runs need few of them."""

import re
from collections.abc import Callable
from functools import cache
from typing import AnyStr


def lazy_pattern(expression: AnyStr, flags: int = 0) -> Callable[[], re.Pattern[AnyStr]]:
    """Return what gives a regular expression, which its first call compiles.

    Args:
        expression: In the syntax of `re`.
        flags: Of `re.compile`.
    """
    return cache(lambda: re.compile(expression, flags))
