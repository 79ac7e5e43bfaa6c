"""Additions to WebAssembly's files: permission bits, and a working folder in its plain form.

WASI knows no permissions: `stat` shows none and `chmod` does nothing. The host sends the bits of
the files that are there, and gets those that the program set.
"""

import functools
import os
import stat
from collections.abc import Callable
from typing import Any

from ..changes import Changes

_FILE, _FOLDER, _LINK = 0o644, 0o755, 0o777
_MOST = 5_000
"""More files with permissions of their own are not looked up one by one: they have the usual."""

_NAMED = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size")
_MORE = tuple(name for name in dir(os.stat_result) if name.startswith("st_") and name not in _NAMED)
"""Fields of a `stat_result` beside its ten numbers."""

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


class Modes:
    """Permission bits of files.

    Args:
        root: The workspace's folder.
        known: Bits of the files in it that have not the usual ones, by relative path.
    """

    def __init__(self, root: str, known: dict[str, int]) -> None:
        self._root = root
        self._known = known if len(known) <= _MOST else {}
        self._of: dict[int, int] | None = None
        self._set: dict[int, str] = {}
        self._umask = 0o022
        self._stat, self._lstat, self._fstat = os.stat, os.lstat, os.fstat

    def install(self, changes: Changes) -> None:
        """Put the functions of `os` that know of them in their places."""
        for name in ("stat", "lstat", "fstat"):
            changes.attribute(os, name, self._telling(getattr(os, name)))
        for name in ("unlink", "remove", "rmdir"):
            changes.attribute(os, name, self._forgetting(getattr(os, name)))
        for name in ("rename", "replace"):
            changes.attribute(os, name, self._replacing(getattr(os, name)))
        changes.attribute(os, "chmod", self._chmod)
        changes.attribute(os, "fchmod", self._fchmod)
        changes.attribute(os, "umask", self._set_umask)
        changes.attribute(os, "chdir", _plain(os.chdir))

    def told(self) -> dict[str, int]:
        """Return the bits that the program set, by path in the workspace."""
        found: dict[str, int] = {}
        moved: set[int] = set()
        for inode, path in self._set.items():
            if self._inode(path) == inode:
                self._tell(found, path, inode)
            else:
                moved.add(inode)
        if moved:
            for above, folders, files in os.walk(self._root):
                for name in (*folders, *files):
                    path = os.path.join(above, name)
                    if (inode := self._inode(path)) in moved:
                        self._tell(found, path, inode)
        return found

    def _tell(self, found: dict[str, int], path: str, inode: int) -> None:
        if path.startswith(f"{self._root}/"):
            found[path[len(self._root) + 1 :]] = self._bits()[inode]

    def _inode(self, path: Any) -> int:
        try:
            return self._lstat(path).st_ino
        except (OSError, ValueError):
            return -1

    def _bits(self) -> dict[int, int]:
        """Return the bits by file, looked up when they are first asked for."""
        if self._of is None:
            paths = ((f"{self._root}/{path}", mode) for path, mode in self._known.items())
            self._of = {self._inode(path): mode for path, mode in paths}
        return self._of

    def _telling(self, look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        @functools.wraps(look)
        def told(*args: Any, **options: Any) -> os.stat_result:
            found = look(*args, **options)
            return _with_mode(found, self._bits().get(found.st_ino))

        return told

    def _forgetting(self, remove: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(remove)
        def removed(path: Path, *, dir_fd: int | None = None) -> None:
            inode = -1 if dir_fd is not None else self._last_name(path)
            if dir_fd is None:
                remove(path)
            else:
                remove(path, dir_fd=dir_fd)
            self._forget(inode)

        return removed

    def _replacing(self, rename: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(rename)
        def renamed(src: Path, dst: Path, **options: Any) -> None:
            inode = -1 if options else self._last_name(dst)
            if inode == self._inode(src):
                inode = -1
            rename(src, dst, **options)
            self._forget(inode)

        return renamed

    def _last_name(self, path: Path) -> int:
        """Return the file that a path is the only name of, where its bits are known."""
        if not self._bits():
            return -1
        try:
            found = self._lstat(path)
        except (OSError, ValueError):
            return -1
        return found.st_ino if found.st_nlink <= 1 or stat.S_ISDIR(found.st_mode) else -1

    def _forget(self, inode: int) -> None:
        self._bits().pop(inode, None)
        self._set.pop(inode, None)

    def _chmod(
        self,
        path: Path | int,
        mode: int,
        *,
        dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> None:
        """Set the bits of a file."""
        if isinstance(path, int):
            self._fchmod(path, mode)
            return
        if dir_fd is None:
            found = self._stat(path, follow_symlinks=follow_symlinks)
        else:
            found = self._stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if not stat.S_ISLNK(found.st_mode):
            place = os.path.realpath(os.fsdecode(path)) if dir_fd is None else ""
            self._change(found, mode, place)

    def _fchmod(self, fd: int, mode: int) -> None:
        """Set the bits of an open file."""
        self._change(self._fstat(fd), mode, "")

    def _change(self, found: os.stat_result, mode: int, place: str) -> None:
        self._bits()[found.st_ino] = mode & 0o777
        self._set[found.st_ino] = place or self._set.get(found.st_ino, "")

    def _set_umask(self, mask: int) -> int:
        """Return the mask that was there before; none has an effect."""
        self._umask, before = mask & 0o777, self._umask
        return before


def _with_mode(found: os.stat_result, bits: int | None) -> os.stat_result:
    """Return the result of `stat`, with permission bits."""
    if stat.S_IMODE(found.st_mode):
        return found
    if bits is None:
        kind = stat.S_IFMT(found.st_mode)
        bits = _FOLDER if kind == stat.S_IFDIR else _LINK if kind == stat.S_IFLNK else _FILE
    numbers = list(found)
    numbers[0] = found.st_mode | bits
    return os.stat_result(numbers, {name: getattr(found, name) for name in _MORE})


def _plain(chdir: Callable[[str], None]) -> Callable[[Any], None]:
    """Return `chdir` after which `getcwd` tells the folder's real path."""

    @functools.wraps(chdir)
    def changed(path: Any) -> None:
        if isinstance(path, int):
            chdir(path)  # type: ignore[arg-type]  it refuses by itself
            return
        given = os.fsdecode(path)
        chdir(os.path.realpath(given) if given else given)

    return changed
