"""A quick first test of paths: most do not concern the built-in rules."""

import re
from collections.abc import Iterable

from lineshaft.policy._spellings import is_plain

_WILD = re.compile(r"[*?\[]")


class Sieve:
    """Tests in well under a microsecond whether some pattern could match a path.

    It may say yes where no pattern matches, never no where one does: it looks only at how the
    first part of each pattern begins or ends.

    Args:
        patterns: Path patterns without `?` and sets in the ending of their first part.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        names, starts, ends = set[str](), set[str](), set[str]()
        for pattern in patterns:
            part = pattern.removeprefix("**/").strip("/").partition("/")[0].lower()
            start = _WILD.split(part)[0]
            if start == part:
                names.add(part)
            elif start:
                starts.add(start)
            else:
                ends.add(_WILD.split(part)[-1])
        self._names, self._starts, self._ends = frozenset(names), tuple(starts), tuple(ends)

    def holds(self, path: str) -> bool:
        """Return whether a pattern could match a path, or a folder that it lies in."""
        if not is_plain(path):  # the expressions decide on its other readings
            return True
        for part in path.lower().split("/"):
            if part in self._names or part.startswith(self._starts) or part.endswith(self._ends):
                return True
        return False
