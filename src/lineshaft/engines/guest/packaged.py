"""Files that a script can read though there is no file system: those of packages, and of Python.

The host holds the packages; the sources of the standard library lie compressed in the image.
"""

import binascii
import errno
import io
import os
import posixpath
import stat
import zlib
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Any, cast

from .codec import dumps, loads
from .current import current

PACKAGES = "/packages"
LIBRARY = "/python"

_LIBRARY_INSIDE = "/python/lib/python3.14/"
_FOLDER = -1


class Entry:
    """An entry of `os.scandir`."""

    def __init__(self, packaged: "PackagedFiles", folder: str, name: str) -> None:
        self._packaged = packaged
        self.name = name
        self.path = posixpath.join(folder, name)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a folder."""
        del follow_symlinks
        return self._packaged.size(self.path) == _FOLDER

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a file."""
        return not self.is_dir(follow_symlinks=follow_symlinks)

    def is_symlink(self) -> bool:
        """Return that it is none."""
        return False

    def is_junction(self) -> bool:
        """Return that it is none."""
        return False

    def inode(self) -> int:
        """Return zero: there is no inode."""
        return 0

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the same as `os.stat`."""
        del follow_symlinks
        return self._packaged.stat(self.path)


class Entries:
    """An open folder."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries: Iterator[Entry] = iter(entries)

    def __iter__(self) -> "Entries":
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> "Entries":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give no more."""
        self._entries = iter(())


class PackagedFiles:
    """The files.

    Args:
        sources: Compressed text of the standard library, by path below `/python`.
    """

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._folders: dict[str, set[str]] = {LIBRARY: set()}
        for path in sources:
            parts = path.split("/")
            for end in range(2, len(parts)):
                self._folders.setdefault("/".join(parts[:end]), set()).add(parts[end])

    def path(self, given: object) -> str | None:
        """Return the normal form of a path that is packaged; None: it is not."""
        if isinstance(given, int):
            return None
        path = os.fspath(cast("str | bytes | os.PathLike[str]", given))
        text = os.fsdecode(path)
        if not text.startswith((PACKAGES, LIBRARY)):
            return None
        if text.startswith(_LIBRARY_INSIDE):
            text = LIBRARY + "/" + text[len(_LIBRARY_INSIDE) :]
        text = posixpath.normpath(text)
        inside = text in (PACKAGES, LIBRARY) or text.startswith((PACKAGES + "/", LIBRARY + "/"))
        return text if inside else None

    def source(self, path: str) -> str | None:
        """Return the text of a module of the standard library."""
        packed = self._sources.get(path)
        return None if packed is None else zlib.decompress(packed).decode("utf-8")

    def size(self, path: str) -> int:
        """Return the size of a file, -1 for a folder.

        Raises:
            FileNotFoundError: It is neither.
        """
        packed = self._sources.get(path)
        if packed is not None:
            return len(zlib.decompress(packed))
        if path in self._folders:
            return _FOLDER
        found = self._ask({"stat": path})
        if found.get("kind") == "file":
            return cast("int", found["size"])
        if found.get("kind") == "folder":
            return _FOLDER
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def stat(self, path: str) -> os.stat_result:
        """Return the same as `os.stat`."""
        size = self.size(path)
        mode = stat.S_IFDIR | 0o555 if size < 0 else stat.S_IFREG | 0o444
        return os.stat_result((mode, 0, 0, 1, 0, 0, max(size, 0), 0, 0, 0))

    def listdir(self, path: str) -> list[str]:
        """Return the same as `os.listdir`."""
        if path in self._folders:
            return sorted(self._folders[path])
        if self.size(path) >= 0:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return sorted(cast("list[str]", self._ask({"list": path}).get("names", [])))

    def scandir(self, path: str) -> Entries:
        """Return the same as `os.scandir`."""
        return Entries([Entry(self, path, name) for name in self.listdir(path)])

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        if self.size(path) < 0:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        packed = self._sources.get(path)
        if packed is not None:
            return zlib.decompress(packed)
        pieces: list[bytes] = []
        offset = 0
        while True:
            found = self._ask({"read": path, "offset": offset})
            piece = binascii.a2b_base64(cast("str", found.get("data", "")))
            pieces.append(piece)
            offset += len(piece)
            if not piece or not found.get("more"):
                return b"".join(pieces)

    def open(
        self,
        path: str,
        mode: str = "r",
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> IO[Any]:
        """Return a file, open for reading."""
        content = io.BytesIO(self.read(path))
        content.name = path
        content.mode = "rb"  # pyright: ignore[reportAttributeAccessIssue]  as of files
        if "b" in mode:
            return content
        return io.TextIOWrapper(content, encoding or "utf-8", errors, newline)

    def _ask(self, request: dict[str, object]) -> dict[str, Any]:
        run = current.maybe
        if run is None or not run.packages:
            return {}
        return cast("dict[str, Any]", loads(run.wire.package(dumps(request))))
