"""Contents that wait in a stage: in memory, and beyond a bound in private files."""

import os
import secrets
import weakref
from collections.abc import Iterator

from lineshaft.errors import WorkspaceError
from lineshaft.workspace._state_folder import StateFolder

MEMORY_BYTES = 16_000_000
"""Of all contents of a view together."""

_CHUNK = 1 << 20


class Spilled:
    """A content in a private file, which goes with the last that knows of it.

    Raises:
        WorkspaceError: It cannot be written; no part of it stays.
    """

    def __init__(self, folder: StateFolder, data: bytes) -> None:
        self.path = str(folder.path / secrets.token_hex(8))
        self.size = len(data)
        try:
            folder.make()
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            _unlink(self.path)
            reason = os.strerror(error.errno or 0)
            raise WorkspaceError(
                f"what is to land cannot be kept in the temporary folder: {reason}",
                hint="Make room there, or set TMPDIR to a folder that has some.",
            ) from error
        self._folder = folder  # which is deleted with its last reference
        self._remove = weakref.finalize(self, _unlink, self.path)

    def parts(self) -> Iterator[bytes]:
        """Return the content piece by piece."""
        with open(self.path, "rb") as file:  # noqa: PTH123  a str
            while chunk := file.read(_CHUNK):
                yield chunk


Held = bytes | Spilled


def _unlink(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108  as above
    except OSError:
        return  # with its folder


class Contents:
    """The contents that one view holds."""

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        self._room = memory_bytes
        self._held = 0
        self._folder: StateFolder | None = None

    def put(self, data: bytes) -> Held:
        """Take a content."""
        if self._held + len(data) <= self._room:
            self._held += len(data)
            return data
        if self._folder is None:
            self._folder = StateFolder()
        return Spilled(self._folder, data)

    def drop(self, held: Held | None) -> None:
        """Release a content."""
        if isinstance(held, bytes):
            self._held -= len(held)

    def copy(self) -> "Contents":
        """Return the same for another view that holds the same contents."""
        other = Contents(self._room)
        other._held = self._held
        return other


def size_of(held: Held) -> int:
    """Return how many bytes a content has."""
    return len(held) if isinstance(held, bytes) else held.size


def parts_of(held: Held) -> Iterator[bytes]:
    """Return a content piece by piece."""
    if isinstance(held, bytes):
        return iter((held,))
    return held.parts()


def bytes_of(held: Held) -> bytes:
    """Return a content whole."""
    return held if isinstance(held, bytes) else b"".join(held.parts())
