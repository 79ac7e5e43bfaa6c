"""Files, closed to a script: opening one that is not packaged raises an error that names the tool.

A script gets the error from every part of the library; a package that looks for a file of its own
finds none, as on a machine without it.
"""

import _io
import builtins
import configparser
import errno
import genericpath
import glob
import io
import os
import pathlib
import posix
import posixpath
import shutil
import sqlite3
import sys
import tarfile
import tempfile
import tokenize
from collections.abc import Callable
from typing import Any, cast

from .changes import Changes
from .current import current
from .frames import asked_by_script, by_script
from .packaged import PackagedFiles
from .refusals import CHANGING, LISTING, READING, WRITING, Need, refusal

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false, reportUnknownMemberType=false

_Function = Callable[..., Any]

_WRITES = frozenset("wax+")
_LOOKED_AT = ("listdir", "scandir", "stat", "lstat")
_CHANGED = (
    "mkdir", "makedirs", "remove", "unlink", "rename", "replace", "rmdir", "removedirs", "renames",
    "link", "symlink", "readlink", "utime", "truncate", "chmod", "chown", "mkfifo", "mknod",
    "lchown", "lchmod", "chdir", "statvfs", "access",
)  # fmt: skip  # words, not one a line
_LOOKS = {"access", "readlink", "statvfs", "chdir"}
_PATHS: dict[str, Need] = {
    "glob": LISTING, "rglob": LISTING, "walk": LISTING, "iterdir": LISTING, "mkdir": CHANGING,
    "touch": CHANGING,
}  # fmt: skip  # words, not one a line
_TREES: dict[str, Need] = {
    "copy": CHANGING, "copy2": CHANGING, "copyfile": CHANGING, "move": CHANGING,
    "copytree": CHANGING, "rmtree": CHANGING, "disk_usage": LISTING,
}  # fmt: skip  # words, not one a line
_ASKED = (
    "exists", "isfile", "isdir", "islink", "lexists", "getsize", "getmtime", "getatime", "getctime",
    "ismount", "samefile",
)  # fmt: skip  # words, not one a line
_STANDARD = frozenset({1, 2})


class Files:
    """The decision whether a path may be used, and how.

    Args:
        changes: Notes the originals.
        packaged: Files where there is no file system; None: there is one.
        readable: Folders of real files that a script may read too.
    """

    def __init__(
        self, changes: Changes, packaged: PackagedFiles | None, readable: tuple[str, ...]
    ) -> None:
        self._changes = changes
        self._packaged = packaged
        self._readable = tuple(folder.rstrip("/") + "/" for folder in readable)

    def close_off(self) -> None:
        """Put these in the place of Python's own."""
        self._close_open()
        for name in _LOOKED_AT:
            self._set_os(name, self._looking(name, getattr(os, name)))
        for name in _CHANGED:
            if hasattr(os, name):
                need = LISTING if name in _LOOKS else CHANGING
                self._set_os(name, self._closed(f"os.{name}", getattr(os, name), need))
        for name in _ASKED:
            self._close_question(name)
        for name in ("walk", "fwalk"):
            if hasattr(os, name):
                self._changes.attribute(
                    os, name, self._closed(f"os.{name}", getattr(os, name), LISTING)
                )
        for name in ("glob", "iglob"):
            function = self._globbing(f"glob.{name}", getattr(glob, name))
            self._changes.attribute(glob, name, function)
        for name, need in _PATHS.items():
            function = getattr(pathlib.Path, name, None)
            if function is not None:
                closed = self._closed(f"pathlib.Path.{name}", function, need)
                self._changes.attribute(pathlib.Path, name, closed)
        self._close_shutil()
        self._close_parsers()

    def _close_open(self) -> None:
        opened = self._opening(builtins.open)
        for owner in (builtins, io, _io):
            self._changes.attribute(owner, "open", opened)
        self._changes.attribute(tokenize, "_builtin_open", opened)
        self._changes.attribute(tarfile, "bltn_open", opened)
        scratch = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  it is looked for nowhere
        self._changes.attribute(tempfile, "tempdir", scratch)
        self._set_os("open", self._closed("os.open", os.open, READING))
        self._set_os("write", self._writing(os.write))
        self._set_os("read", self._reading(os.read))
        if self._packaged is not None:
            for owner in (io, _io):
                self._changes.attribute(owner, "open_code", _open_code)
            self._set_os("isatty", _no_terminal)

    def _close_question(self, name: str) -> None:
        original = getattr(posixpath, name, None)
        if original is None:
            return
        asked = self._asking(name, original)
        for owner in (posixpath, genericpath):
            if hasattr(owner, name):
                self._changes.attribute(owner, name, asked)

    def _close_shutil(self) -> None:
        for name, need in _TREES.items():
            original = getattr(shutil, name, None)
            if original is not None:
                closed = self._closed(f"shutil.{name}", original, need)
                self._changes.attribute(shutil, name, closed)

    def _close_parsers(self) -> None:
        """Close functions that take a file that cannot be opened for an empty one."""
        read: _Function = configparser.RawConfigParser.read

        def reading(parser: Any, filenames: Any, encoding: str | None = None) -> list[str]:
            one = isinstance(filenames, str | bytes) or hasattr(filenames, "__fspath__")
            for path in [filenames] if one else list(filenames):
                self._require(path, "configparser's read", READING)
            return read(parser, filenames, encoding)

        self._changes.attribute(configparser.RawConfigParser, "read", reading)
        connect = sqlite3.connect

        def connecting(database: Any, *args: Any, **options: Any) -> Any:
            text = os.fsdecode(database)
            if text not in ("", ":memory:") and not text.startswith("file::memory:"):
                self._require(database, "opening a database file", WRITING)
            return connect(database, *args, **options)

        self._changes.attribute(sqlite3, "connect", connecting)
        self._changes.attribute(sys.modules["sqlite3.dbapi2"], "connect", connecting)

    def _set_os(self, name: str, function: object) -> None:
        self._changes.attribute(os, name, function)
        if self._packaged is not None and hasattr(posix, name):
            self._changes.attribute(posix, name, function)

    def _may(self, path: object, *, changes: bool = False) -> bool:
        """Return whether real files may be asked for a path."""
        if self._packaged is not None or isinstance(path, int):
            return False
        text = os.fsdecode(cast("str", path))
        if not text.startswith("/"):
            return False
        if not by_script():
            return True
        return not changes and f"{os.path.normpath(text)}/".startswith(self._readable)

    def _refused(self, path: object, what: str, need: Need) -> Exception:
        if by_script() or self._packaged is None:
            return refusal(what, need)
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def _require(self, path: object, what: str, need: Need) -> None:
        if not (self._packaged is not None and self._packaged.path(path)) and not self._may(path):
            raise self._refused(path, what, need)

    def _opening(self, original: _Function) -> _Function:
        def open(  # noqa: A001  its name
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,  # noqa: FBT001, FBT002  as Python's own
            opener: Any = None,
        ) -> Any:
            writes = not _WRITES.isdisjoint(mode)
            path = None if self._packaged is None else self._packaged.path(file)
            if path is not None and self._packaged is not None:
                if writes:
                    raise PermissionError(errno.EACCES, "packages are read only", path)
                return self._packaged.open(path, mode, encoding, errors, newline)
            is_descriptor = isinstance(file, int) and self._packaged is None and not by_script()
            if is_descriptor or self._may(file, changes=writes):
                return original(file, mode, buffering, encoding, errors, newline, closefd, opener)
            raise self._refused(file, "open", WRITING if writes else READING)

        open.__qualname__, open.__module__ = "open", "_io"
        return open

    def _looking(self, name: str, original: _Function) -> _Function:
        own: _Function | None = None
        if self._packaged is not None:
            own = getattr(self._packaged, {"lstat": "stat"}.get(name, name))

        def look(path: Any = ".", *args: Any, **options: Any) -> Any:
            packaged = None if self._packaged is None else self._packaged.path(path)
            if packaged is not None and own is not None:
                return own(packaged)
            if self._may(path) or (self._packaged is None and isinstance(path, int)):
                return original(path, *args, **options)
            raise self._refused(path, f"os.{name}", LISTING)

        look.__name__ = look.__qualname__ = name
        return look

    def _closed(self, what: str, original: _Function, need: Need) -> _Function:
        def closed(path: Any = ".", *args: Any, **options: Any) -> Any:
            packaged = None if self._packaged is None else self._packaged.path(path)
            if (packaged is not None and need is LISTING) or self._may(
                path, changes=need is CHANGING
            ):
                return original(path, *args, **options)
            raise self._refused(path, what, need)

        closed.__name__ = closed.__qualname__ = what.rpartition(".")[2]
        return closed

    def _writing(self, original: _Function) -> _Function:
        is_real = self._packaged is None

        def write(fd: int, data: bytes, /) -> int:
            if fd in _STANDARD and current.maybe is not None:
                return current.run.output.write_bytes(fd, bytes(data))
            if is_real:
                return original(fd, data)
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

        return write

    def _reading(self, original: _Function) -> _Function:
        is_real = self._packaged is None

        def read(fd: int, length: int, /) -> bytes:
            if is_real and fd:
                return original(fd, length)
            raise refusal("os.read", READING, OSError)

        return read

    def _globbing(self, what: str, original: _Function) -> _Function:
        def globbing(pathname: Any, *, root_dir: Any = None, **options: Any) -> Any:
            self._require(root_dir or pathname, what, LISTING)
            return original(pathname, root_dir=root_dir, **options)

        globbing.__name__ = globbing.__qualname__ = what.rpartition(".")[2]
        return globbing

    def _asking(self, name: str, original: _Function) -> _Function:
        def ask(path: Any, *args: Any, **options: Any) -> Any:
            packaged = self._packaged is not None and self._packaged.path(path) is not None
            if not packaged and asked_by_script() and not self._may(path):
                raise refusal(f"os.path.{name}", LISTING)
            return original(path, *args, **options)

        ask.__name__ = ask.__qualname__ = name
        return ask


def _open_code(path: str) -> Any:
    return io.open(path, "rb")  # noqa: UP020  the caller closes it; the function of `io` is not closed off


def _no_terminal(_descriptor: int) -> bool:
    return False
