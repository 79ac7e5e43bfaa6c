"""Parts that built-in guards share: their level, and the contents that they check."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Literal, get_args

from lineshaft.errors import ConfigError, WorkspaceError
from lineshaft.values import Change, Stage, Struct

Level = Literal["error", "warning", "off"]
"""The effect of a guard's findings: they keep changes from landing, warn, or are off."""

LEVELS: tuple[Level, ...] = get_args(Level)

MOST_BYTES = 2_000_000
"""Larger files are not looked at."""

_BEGINNING = 8_000


class ChangedFile(Struct, frozen=True):
    """One file that is to land, with its content before."""

    path: str
    after: bytes
    before: bytes | None
    """None: it is new."""

    was: str
    """Its path before, where it was moved."""


def check_level(guard: str, level: object) -> None:
    """Refuse a value that is no level.

    Raises:
        ConfigError: It is none.
    """
    if level not in LEVELS:
        raise ConfigError(
            f"the guard {guard!r} has no level {level!r}; allowed: {', '.join(LEVELS)}"
        )


async def contents(
    changes: Sequence[Change], stage: Stage, *, of: Callable[[str], bool]
) -> AsyncIterator[ChangedFile]:
    """Return the contents of the changed files that are there and no larger than the bound.

    A symlink has none: what it leads to is another file, which may be as it was.

    Args:
        changes: The changes to land.
        stage: The view that holds them.
        of: Selects the paths.
    """
    for change in changes:
        if change.kind == "deleted" or not of(change.path):
            continue
        try:
            if (await stage.stat(change.path)).symlink:
                continue
            after = (await stage.read(change.path)).data
        except WorkspaceError:
            continue  # a folder, an unreadable file: no text to check
        if len(after) <= MOST_BYTES:
            was = change.moved_from or change.path
            yield ChangedFile(change.path, after, await content_before(stage, was), was)


async def content_before(stage: Stage, path: str) -> bytes | None:
    """Return a file's content before; None where there was none, or it is not known."""
    try:
        content = await stage.before(path)
    except WorkspaceError:
        return None
    return content.data if content else None


def is_text(data: bytes) -> bool:
    """Return whether a content looks like text."""
    return b"\0" not in data[:_BEGINNING]
