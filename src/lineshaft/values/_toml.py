"""TOML of settings and policies: read on the host, before there is anything else to read it with.

Python's parser takes time by the square of the parts of a key, and of nothing else that is known.
So a text is bounded in its length and in the parts of its keys; then it takes a second at most.
"""

import re
from typing import Any

from lineshaft.values._lazy_pattern import lazy_pattern

_MOST_CHARACTERS = 500_000
_MOST_PARTS = 32

# Each piece is taken even where its end is missing, so that none is looked through twice.
_TEXTS = lazy_pattern(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\Z)'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
_DOTTED = lazy_pattern(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)*+")


def toml_table(text: str) -> dict[str, Any]:
    """Return what a text in TOML says.

    Raises:
        ValueError: It is none, has a number of thousands of digits, is nested too deeply, or has
            more than settings need.
    """
    import tomllib  # noqa: PLC0415  slow, and many runs have no settings

    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"it has more than {_MOST_CHARACTERS:,} characters")
    bare = _TEXTS().sub("_", text)
    if any(match[0].count(".") >= _MOST_PARTS for match in _DOTTED().finditer(bare)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
