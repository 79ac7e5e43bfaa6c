"""Regular expressions from elsewhere: what it costs to compile one, before that is tried.

A search can be given a time; a compilation cannot, and what must be found several times is copied
as often: `(?:a{60000}){60000}` would never be ready.
"""

import re

from lineshaft.values._lazy_pattern import lazy_pattern

LONGEST_PATTERN = 10_000
_MOST_COST = 20_000
"""Copied parts, all together; a tenth of a second."""

_PARTS = lazy_pattern(
    r"(?P<other>\\.|\[\^?+\]?+(?:[^\]\\]|\\.)*+\]?|\(\?#[^)]*+\)?)"
    r"|\{(?P<times>[0-9]*+)(?:,[0-9]*+)?\}"
    r"|(?P<one>.)",
    re.DOTALL,
)
_OTHER_SYNTAX = lazy_pattern(r"\(\?[A-Za-z0-9-]*[xV]")
"""Flags under which brackets and comments mean something else."""


def is_costly(pattern: str) -> bool:
    """Return whether a regular expression is not to be compiled: too long, or copied too often."""
    if len(pattern) > LONGEST_PATTERN or _OTHER_SYNTAX().search(pattern):
        return True
    sums, lasts = [0], [0]  # of each open group: its parts, but for the last one; the last one
    for part in _PARTS().finditer(pattern):
        one = part["one"]
        if part["times"] is not None or one == "+":
            times = int((part["times"].lstrip("0") or "0")[:9]) if one is None else 1
            lasts[-1] *= times + 1
        elif one == "(":
            sums.append(0)
            lasts.append(0)
        elif one == ")" and len(sums) > 1:
            whole = sums.pop() + lasts.pop() + 1
            sums[-1], lasts[-1] = sums[-1] + lasts[-1], whole
        elif one is None or one not in "*?|":
            sums[-1], lasts[-1] = sums[-1] + lasts[-1], 1
        if max(sums[-1], lasts[-1]) > _MOST_COST:
            return True
    return sum(sums) + sum(lasts) > _MOST_COST
