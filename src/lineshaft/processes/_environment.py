"""The part of the host's environment that a process gets.

A scrubbed environment is no boundary: on Linux a process of the same user can read the host's
through `/proc`. It keeps secrets from programs that print or pass on their variables.
"""

import os
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from lineshaft.values import looks_secret

_ALLOWED = ("PATH", "HOME", "LANG", "LC_*", "TERM", "TMPDIR", "TZ")


def minimal_environment(extra: Mapping[str, str], *, allow: Collection[str] = ()) -> dict[str, str]:
    """Return the environment of a process.

    Args:
        extra: Variables by name, which win.
        allow: More names to take from the host, those of secrets too.
    """
    chosen = {name: value for name, value in os.environ.items() if _passes(name, allow)}
    return chosen | dict(extra)


def _passes(name: str, allow: Collection[str]) -> bool:
    if name in allow:
        return True
    return not looks_secret(name) and any(fnmatchcase(name, pattern) for pattern in _ALLOWED)
