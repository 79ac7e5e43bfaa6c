"""Patterns for paths: `*`, `?`, `[...]`, `{a,b}` within a part, `**` for any number of parts.

Linear where a regular expression would backtrack: the pattern comes from a script.
"""

import re
from collections.abc import Sequence
from fnmatch import translate

from lineshaft.kit._failures import invalid
from lineshaft.values import beginning

_MOST_CHOICES = 100
_LONGEST = 1_000
_ANY = "**"
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class Glob:
    """A pattern for paths.

    Args:
        pattern: Relative, with `/`.

    Raises:
        ToolError: It is empty, too long, or leads elsewhere.
    """

    def __init__(self, pattern: str) -> None:
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        if not parts or len(pattern) > _LONGEST:
            raise invalid(f"the pattern {beginning(pattern, 80)!r} is empty or too long")
        if pattern.startswith("/") or ".." in parts:
            raise invalid(
                f"the pattern {pattern!r} leads elsewhere",
                "Say in `path` where to look; the pattern is relative to it.",
            )
        self.folders_only = pattern.endswith("/")
        """Whether only folders are meant."""

        self._choices = [_compiled(choice.split("/")) for choice in _choices("/".join(parts))]

    @property
    def depth(self) -> int | None:
        """How many folders deep a match can be; None: at any depth."""
        if any(_ANY in choice for choice in self._choices):
            return None
        return max(map(len, self._choices))

    def matches(self, path: str) -> bool:
        """Whether the whole path fits."""
        parts = path.split("/")
        return any(_fits(choice, parts) for choice in self._choices)


_Part = re.Pattern[str] | str


def _compiled(parts: Sequence[str]) -> list[_Part]:
    # The standard library's translation of a part does not backtrack.
    return [_ANY if part == _ANY else re.compile(translate(part)) for part in parts]


def _choices(pattern: str) -> list[str]:
    """Return the patterns without braces that a pattern with braces stands for."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > _MOST_CHOICES:
            raise invalid(f"the pattern {pattern!r} has more than {_MOST_CHOICES} choices")
        one = waiting.pop()
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
            continue
        head, tail = one[: braces.start()], one[braces.end() :]
        waiting += [f"{head}{choice}{tail}" for choice in braces[1].split(",")]
    return done


def _fits(pattern: Sequence[_Part], parts: Sequence[str]) -> bool:
    """Match part by part; on a mismatch let the last `**` take one part more."""
    at = here = 0
    star: tuple[int, int] | None = None
    while here < len(parts):
        part = pattern[at] if at < len(pattern) else None
        if isinstance(part, str):
            star = (at, here)
            at += 1
        elif part is not None and part.match(parts[here]):
            at, here = at + 1, here + 1
        elif star is not None:
            star = (star[0], star[1] + 1)
            at, here = star[0] + 1, star[1]
        else:
            return False
    return all(part == _ANY for part in pattern[at:])
