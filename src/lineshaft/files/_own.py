"""Lineshaft's own folders, which are closed to tools.

The cache holds native code that this process executes, the state holds keys. Covered: their names,
other spellings where the file system takes them for the same, a mount of them elsewhere, and
replacement of a folder above them. Not covered: a second name (a hard link) of a file in them,
which only a program that runs as the user can make.
"""

import os
import sys
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lineshaft.errors import ConfigError
from lineshaft.files._places import cache_folder, config_folder, data_folder, state_folder

_FOLDERS: tuple[Callable[[], Path], ...] = (cache_folder, state_folder, data_folder, config_folder)
_SPELLINGS = sys.platform in ("darwin", "win32")
"""Whether file systems take several spellings for one name."""

Identity = tuple[int, int]


class OwnFolders:
    """The four folders in their present places; they need not exist."""

    def __init__(self) -> None:
        self._real: list[str] = []
        named: set[str] = set()
        for folder in _FOLDERS:
            with suppress(ConfigError):
                path = folder()
                self._real.append(os.path.realpath(path))
                named |= {os.path.abspath(path), self._real[-1]}  # noqa: PTH100  as they are named
        self._folders = {_spelt(path) for path in named}
        self._names: dict[str, set[str]] = {}
        self._above: set[str] = set()
        for path in named:
            folder, name = os.path.split(path)
            self._names.setdefault(_spelt(folder), set()).add(_spelt(name))
            self._above |= {str(above) for above in Path(path).parents}
        self._spelt_above = {_spelt(path) for path in self._above}

    @property
    def real(self) -> tuple[Path, ...]:
        """Their real paths."""
        return tuple(map(Path, self._real))

    def hold(self, real: str) -> bool:
        """Return whether a real path is one of them, or in one."""
        path = _spelt(real)
        return any(path == own or path.startswith(own + os.sep) for own in self._folders)

    def are_below(self, real: str) -> bool:
        """Return whether one of them is below a path, or would be if it were there."""
        if _spelt(real) in self._spelt_above:
            return True
        own = _identity(real, follow=False)
        return own is not None and own in {_identity(path) for path in self._above}

    def names_in(self, folder: str) -> set[str]:
        """Return the names of those that stand in a folder; compare them with `is_named`."""
        return self._names.get(_spelt(folder), set())

    def is_named(self, name: str, names: set[str]) -> bool:
        """Return whether an entry of a folder is one of `names_in` it."""
        return bool(names) and _spelt(name) in names

    def identities(self) -> set[Identity]:
        """Return their present identities in the file system."""
        return {found for path in self._real if (found := _identity(path)) is not None}


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity of a file or folder in the file system."""
    return status.st_dev, status.st_ino


def _identity(path: str, *, follow: bool = True) -> Identity | None:
    try:
        return identity_of(os.stat(path, follow_symlinks=follow))  # noqa: PTH116  at each opening
    except OSError:
        return None


def _spelt(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold() if _SPELLINGS else path
