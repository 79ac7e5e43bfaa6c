"""Problems of arguments and results, in a tool's own words."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from lineshaft.tools.schemas.plainness import NotPlain, ValuePath
from lineshaft.values import Struct

_MOST = 5
_MOST_STEPS = 12


class Problem(Struct, frozen=True):
    """One problem, and its place."""

    path: ValuePath
    text: str
    """The problem, to be read after the path: `must be an integer, not 'x'`."""


class Mismatch(Exception):
    """Values that do not fit a tool's contract.

    Args:
        problems: The problems; at least one.
        hint: Advice.
    """

    def __init__(self, problems: Sequence[Problem], hint: str = "") -> None:
        super().__init__(tell(problems, "it"))
        self.problems = tuple(problems)
        self.hint = hint

    @classmethod
    def of(cls, error: NotPlain, verb: str) -> "Mismatch":
        """Return the mismatch of a value that JSON cannot hold."""
        return cls([Problem(tuple(error.path), f"{verb} {error.what}")], error.hint)


def tell(problems: Sequence[Problem], whole: str) -> str:
    """Return problems as one line.

    Args:
        problems: The problems.
        whole: Name of the value itself, where a problem is with all of it.
    """
    told = [f"{where(p.path) or whole} {p.text}" for p in problems[:_MOST]]
    if len(problems) > _MOST:
        told.append(f"and {len(problems) - _MOST} more")
    return "; ".join(told)


def where(path: Iterable[str | int]) -> str:
    """Return a path as Python would write it: `edits[0].old`."""
    steps = list(path)
    text = ""
    for step in steps[:_MOST_STEPS]:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}"
        else:
            text += f"[{step!r:.60}]"
    rest = "..." if len(steps) > _MOST_STEPS else ""
    return f"`{text.removeprefix('.')}{rest}`" if text else ""


def shown(value: object) -> str:
    """Return a value as a message can hold it, with its type where that is not plain to see."""
    kind = type(value).__name__
    if isinstance(value, int) and value.bit_length() > 200:
        return "an int of many digits"
    if value is None or isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"a text of {len(value):,} characters"
    if isinstance(value, Mapping | list | tuple):
        size = len(cast("Sequence[object]", value))
        return f"a {kind} of {size}" if size else f"an empty {kind}"
    return f"a {kind}"


def unknown(name: str, known: Iterable[str]) -> str:
    """Return the text for a name that is none of the known ones."""
    names = list(known)
    if close := difflib.get_close_matches(name, names, n=1):
        return f"is unknown; did you mean `{close[0]}`?"
    listed = ", ".join(f"`{n}`" for n in names[:12]) + (", ..." if len(names) > 12 else "")
    return f"is unknown; there is {listed}" if names else "is unknown; there are no arguments"
