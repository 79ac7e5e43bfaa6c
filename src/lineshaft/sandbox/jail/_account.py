"""Report the changes of a run to a folder that an overlay kept apart.

Above: `_syscall_broker.py`, which forks this before it gives up its rights; it reads files that
    the inside may have closed to all users. The overlay holds each path that was touched; the rest
    is unchanged.

Each line of the report is JSON: path, state before, state after, where the new bytes are. A state
is kind, permission bits, SHA-256, link target.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

assert sys.platform == "linux"  # noqa: S101  a part of the broker

_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_OPAQUE, _REDIRECT = "opaque", "redirect"
_T = TypeVar("_T")


class Account:
    """The folder as it was, the upper layer with the writes, and both merged.

    Made before the root of this process changes; its descriptors outlive that.

    Args:
        lower: The folder.
        scratch: The jail's private folder; holds `upper`.
    """

    def __init__(self, lower: str, scratch: str) -> None:
        self._scratch = scratch
        self._fds = [os.open(p, _DIRECTORY) for p in (lower, f"{scratch}/upper", scratch)]
        self._merged = -1
        self._moved = 0
        self._folders: dict[tuple[int, str], bool] = {}
        self._laid = _laid(f"{scratch}/laid.json")

    def see(self, merged: str) -> None:
        """Set the place of the merged view."""
        self._merged = os.open(merged, _DIRECTORY)

    def descriptors(self) -> set[int]:
        """Return the descriptors that must stay open."""
        return {*self._fds, self._merged}

    def write(self) -> None:
        """Write the report."""
        with open(f"/proc/self/fd/{self._fds[2]}/changes.json", "w", encoding="utf-8") as file:  # noqa: PTH123  pathlib is not imported here
            touched = dict.fromkeys(self._touched(""))
            if self._laid:  # a laid file that was removed again leaves no sign
                touched = sorted({*touched, *self._laid}, key=lambda path: path.split("/"))
            for path in touched:
                before, after = self._before(path), self._state(self._merged, path)
                if before != after:
                    place = self._bytes(path) if after and after[0] == "file" else None
                    words = [os.fsencode(path).hex(), before, after, place]
                    file.write(json.dumps(words) + "\n")

    def _touched(self, folder: str) -> Iterator[str]:
        """Return every path that can differ, folders before what is in them."""
        for entry in self._entries(self._fds[1], folder):
            path = f"{folder}{entry.name}"
            yield path
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) and self._is_folder(self._fds[0], path) and not _alone(entry):
                yield from self._touched(path + "/")
            else:
                yield from self._below(self._merged, path)
                yield from self._below(self._fds[0], path)

    def _below(self, fd: int, path: str) -> Iterator[str]:
        if self._is_folder(fd, path):
            for entry in self._entries(fd, path + "/"):
                inner = f"{path}/{entry.name}"
                yield inner
                yield from self._below(fd, inner)

    def _entries(self, fd: int, folder: str) -> "list[os.DirEntry[str]]":
        def read() -> "list[os.DirEntry[str]]":
            with os.scandir(self._place(fd, folder)) as entries:
                return sorted(entries, key=lambda entry: entry.name)

        return _opened(self._place(fd, folder), read)

    def _is_folder(self, fd: int, path: str) -> bool:
        """Return whether a path is a folder, and so is all above it: no link leads there."""
        known = self._folders.get((fd, path))
        if known is None:
            above = path.rpartition("/")[0]
            known = (not above or self._is_folder(fd, above)) and self._is_itself_folder(fd, path)
            self._folders[fd, path] = known
        return known

    def _is_itself_folder(self, fd: int, path: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(self._place(fd, path)).st_mode)
        except OSError:
            return False

    def _before(self, path: str) -> list[object] | None:
        """Return the state that the program found."""
        if path in self._laid:
            return self._laid[path]
        above = path
        while self._laid and (above := above.rpartition("/")[0]):
            if above in self._laid:
                state = self._laid[above]
                if state is None or state[0] != "dir":
                    return None
                break
        return self._state(self._fds[0], path)

    def _state(self, fd: int, path: str) -> list[object] | None:
        above = path.rpartition("/")[0]
        if above and not self._is_folder(fd, above):
            return None
        place = self._place(fd, path)
        try:
            found = os.lstat(place)
        except OSError:
            return None
        mode = stat.S_IMODE(found.st_mode)
        if stat.S_ISLNK(found.st_mode):
            return ["symlink", 0, None, os.fsencode(os.readlink(place)).hex()]  # noqa: PTH115  as above
        if stat.S_ISDIR(found.st_mode):
            return ["dir", mode, None, None]
        if not stat.S_ISREG(found.st_mode):
            return ["other", mode, None, None]
        digest = None
        with contextlib.suppress(OSError):
            # A file of another user, which can be deleted nevertheless, has no hash.
            digest = _opened(place, lambda: _digest(place))
        return ["file", mode, digest, None]

    def _bytes(self, path: str) -> str:
        """Return the host's place of a file's bytes."""
        with contextlib.suppress(OSError):
            upper = self._place(self._fds[1], path)
            if stat.S_ISREG(os.lstat(upper).st_mode):
                os.chmod(upper, os.stat(upper).st_mode | stat.S_IRUSR)  # noqa: PTH101, PTH116  as above
                return os.fsencode(f"{self._scratch}/upper/{path}").hex()
        # It moved with its folder, and its bytes are still where they were.
        self._moved += 1
        name = f"moved-{self._moved}"
        place = self._place(self._merged, path)
        _opened(place, lambda: shutil.copyfile(place, self._place(self._fds[2], name)))
        return os.fsencode(f"{self._scratch}/{name}").hex()

    def _place(self, fd: int, path: str) -> str:
        return f"/proc/self/fd/{fd}/{path}"


def _laid(place: str) -> dict[str, list[object] | None]:
    """Return the states of what was laid over the folder, by path."""
    try:
        with open(place, encoding="utf-8") as file:  # noqa: PTH123  as above
            laid = json.load(file)
    except FileNotFoundError:
        return {}
    return {os.fsdecode(bytes.fromhex(path)): state for path, state in laid.items()}


def _alone(entry: "os.DirEntry[str]") -> bool:
    """Return whether a written folder replaces the one that was there."""
    with contextlib.suppress(OSError):
        names = os.listxattr(entry.path, follow_symlinks=False)
        return any(name.endswith((f"overlay.{_OPAQUE}", f"overlay.{_REDIRECT}")) for name in names)
    return False


def _opened(place: str, read: Callable[[], _T]) -> _T:
    """Read a file or folder whose mode may close it to its owner."""
    try:
        return read()
    except PermissionError:
        mode = stat.S_IMODE(os.stat(place).st_mode)  # noqa: PTH116  as above
        os.chmod(place, mode | stat.S_IRWXU)  # noqa: PTH101  as above
        try:
            return read()
        finally:
            os.chmod(place, mode)  # noqa: PTH101  as above


def _digest(place: str) -> str:
    with open(place, "rb") as file:  # noqa: PTH123  as above
        return hashlib.file_digest(file, "sha256").hexdigest()
