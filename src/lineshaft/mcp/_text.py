"""Text that a server wrote, made fit to be shown: no control characters, not longer than needed."""

from collections.abc import Mapping
from typing import cast

from lineshaft.trace import Redactor
from lineshaft.values import SecretFinder, beginning, without_unseen

_KEPT = "\n\t"
_VALUES = frozenset({"enum", "const", "default", "examples"})
_PROSE = frozenset({"description", "title", "$comment"})

DESCRIPTION = 2_000
"""Characters of what describes a tool."""

PARAMETER = 1_000
"""Characters of what describes one part of a schema."""


_FORMS: SecretFinder = Redactor()
"""Finds secrets of well-known forms."""


def clean(text: str, most: int, *, secrets: SecretFinder = _FORMS) -> str:
    """Return text without what a terminal or a reader would not see as text.

    Control characters, marks of direction, characters without width and those of private use go:
    they hide words, or say what is to be done to a terminal.

    Args:
        text: As the server wrote it.
        most: Characters to keep; a cut is marked.
        secrets: What is not cut in two.
    """
    short = beginning(text, most, secrets=secrets)
    short = without_unseen(short, keep=_KEPT)
    return short if len(text) <= most else f"{short.rstrip()} ..."


def clean_schema(schema: object) -> object:
    """Return a schema whose descriptions are fit to be shown; all else stays as it is."""
    if isinstance(schema, list):
        return [clean_schema(each) for each in cast("list[object]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, object] = {}
    for key, value in cast("Mapping[str, object]", schema).items():
        if key in _PROSE and isinstance(value, str):
            found[key] = clean(value, PARAMETER)
        else:
            found[key] = value if key in _VALUES else clean_schema(value)
    return found
