"""Differences between the walls that a guest can be in."""

from collections.abc import Callable
from dataclasses import dataclass


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The place of a guest."""

    is_wasm: bool = True
    """In WebAssembly there are no files, and all of the library is imported ahead."""

    readable: tuple[str, ...] = ()
    """Folders of real files that a script may read too, such as those of the packages."""

    relax: Callable[[], None] = _nothing
    """Called once a script has ended by an error, to give back memory for telling of it."""
