"""Servers that the first question of the newest protocol ends, or that leave it without an answer.

They are known as long as this process lasts, and are not asked it again: each time costs a start of
the program, or the ten seconds that the SDK waits.
"""

from pathlib import Path

from lineshaft.mcp._spec import ServerSpec

_older: set[tuple[tuple[str, ...], Path | None, str]] = set()


def is_older(spec: ServerSpec | None) -> bool:
    """Return whether a server is known to speak the older protocol alone."""
    return spec is not None and _key(spec) in _older


def remember(spec: ServerSpec) -> None:
    """Take note that a server speaks the older protocol alone."""
    _older.add(_key(spec))


def forget(spec: ServerSpec) -> None:
    """Forget which protocol a server speaks, so that it is asked again."""
    _older.discard(_key(spec))


def _key(spec: ServerSpec) -> tuple[tuple[str, ...], Path | None, str]:
    return tuple(spec.command), spec.cwd, spec.url
