"""The private copy of a workspace on which programs work that no jail holds.

Above: `_run.py`. Below: a scratch folder. The copy is kept for a session and brought up to date
before each program; comparing the copy with the state before gives the program's changes. The
program may leave anything in it, so no function here follows a symlink of the copy.
"""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock
from time import time_ns
from typing import NamedTuple

from msgspec.structs import replace

from lineshaft.errors import EngineError, TooLarge
from lineshaft.files import remove_tree
from lineshaft.sandbox.jail import (
    Changes,
    PathDifference,
    PathState,
    SandboxSpec,
    Scratch,
    is_gone,
    lay_over_copy,
    make_scratch,
    settle,
    visible,
)
from lineshaft.values import StagedFile, Struct

_CHUNK = 1 << 20
_TRIES = 3
_PERMISSIONS = 0o777
_DEEPEST = 200
_LONGEST_PATH = 3_000
_SECOND = 1_000_000_000
_FINE_TICK = 50_000_000
"""Longer than the steps in which a kernel counts time for files."""

_COARSE_TICK = 2 * _SECOND
"""The same, of file systems that keep whole seconds."""

_HAS_CTIME = sys.platform != "win32"
"""Whether `st_ctime` is the time of a file's last change; elsewhere it is that of its creation."""

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | getattr(os, "O_BINARY", 0)

_NOT_TEXT = "its name is not UTF-8"

_GONE = (FileNotFoundError, NotADirectoryError)
"""The errors of a path that another program removes or replaces at the moment."""


class Bounds(Struct, frozen=True, kw_only=True):
    """How much a program without a jail may work on, and leave."""

    files: int = 100_000
    """Entries of the workspace, and of its copy afterwards."""

    size: int = 2 << 30
    """Bytes of the workspace."""

    written: int = 512 << 20
    """Bytes that a program may add to the copy and to its temporary files, or change."""

    file: int = 64 << 20
    """Bytes of one file that it writes."""


class FileStamp(NamedTuple):
    """The stamp of a file: equal stamps, same file and content."""

    device: int
    inode: int
    mode: int
    size: int
    ctime: int
    mtime: int


class _Known(Struct, frozen=True):
    """One path of the copy as it was put there."""

    source: FileStamp | None
    """Of the workspace's own; None: look at its content next time."""

    copy: FileStamp
    state: PathState


class WorkspaceCopy:
    """A copy of a folder, without closed paths.

    Not safe to use from several threads at once.

    Args:
        root: The folder.
        bounds: How large it may be, and become.
    """

    def __init__(self, root: Path, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._root = root.resolve()
        self._scratch: Scratch | None = None
        self._known: dict[str, _Known] = {}
        self._touched: set[str] = set()
        self._spec = SandboxSpec(readable=())
        self._settled_at = 0
        self._lock = Lock()

    @property
    def place(self) -> Path:
        """The private folder around the copy, for what belongs to one program."""
        if self._scratch is None:
            self._scratch = make_scratch()
        return self._scratch.path

    @property
    def folder(self) -> Path:
        """The copy itself."""
        return self.place / "copy"

    def refresh(self, spec: SandboxSpec, *, left: Event | None = None) -> tuple[str, ...]:
        """Bring the copy up to date with the folder, and with what is laid over it.

        Args:
            spec: The hidden and read-only paths of the folder, and what is laid over it.
            left: Set once it is waited for no longer; then it ends before the next file.

        Returns:
            Paths left out that no policy hides, each with the reason.

        Raises:
            TooLarge: The folder exceeds the bounds.
            EngineError: The folder cannot be read, or the copy not be written.
        """
        with self._lock:
            return self._refreshed(spec, left or Event())

    def _refreshed(self, spec: SandboxSpec, left: Event) -> tuple[str, ...]:
        _refuse_left(left)
        try:
            return self._refresh(spec, left)
        except OSError as error:
            self.reset()
            said = error.strerror or str(error)
            raise EngineError(f"the workspace cannot be copied for a program: {said}") from error
        except BaseException:
            self.reset()
            raise

    def changes(self, modes: Mapping[str, int] | None = None) -> Changes:
        """Return the changes of a program to the copy since it was brought up to date.

        Args:
            modes: Permission bits that the program set, by path; its files do not carry them.

        Raises:
            TooLarge: It left more than the bounds allow.
        """
        found: list[PathDifference] = []
        after = dict(self._left())
        written = 0
        for path in sorted(self._known.keys() | after.keys()):
            known, status = self._known.get(path), after.get(path)
            wanted = None if modes is None else modes.get(path)
            if known is not None and status is not None and self._is_same(known, status):
                if wanted in (None, known.state.mode & _PERMISSIONS):
                    continue
                state = replace_mode(known.state, wanted)
            elif status is not None:
                written += status.st_size if stat.S_ISREG(status.st_mode) else 0
                if written > self.bounds.written:
                    raise TooLarge(
                        f"the program changed more than {self.bounds.written >> 20:,} MB of files;"
                        " none of its changes were kept",
                        hint="Let it write less, or let several programs do parts.",
                    )
                state = replace_mode(_state(self.folder / path, status), wanted)
            else:
                state = None
            self._touched.add(path)
            before = None if known is None else known.state
            found.append(PathDifference(path, before, state, str(self.folder / path)))
        return settle(found, root=self._root, spec=self._spec)

    def modes(self) -> dict[str, int]:
        """Return the permission bits that differ from those of new files and folders."""
        return {
            path: known.state.mode & _PERMISSIONS
            for path, known in self._known.items()
            if known.state.kind != "symlink"
            and known.state.mode & _PERMISSIONS != (0o755 if known.state.kind == "dir" else 0o644)
        }

    def reset(self) -> None:
        """Drop the copy; the next program gets a new one."""
        self._known.clear()
        self._touched.clear()
        if self._scratch is not None:
            remove_tree(self.folder)

    def close(self) -> None:
        """Remove the copy and the private folder around it, once it is not brought up to date."""
        with self._lock:
            self.reset()
            if self._scratch is not None:
                remove_tree(self._scratch.path)
                self._scratch.discard()
                self._scratch = None

    def _refresh(self, spec: SandboxSpec, left: Event) -> tuple[str, ...]:
        listing = _Listing(self._root, spec, self.bounds, self.place.parent)
        self._spec = replace(spec, hidden=(*spec.hidden, *listing.unseen))
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._open_folders()
        gone = (self._known.keys() - listing.found.keys()) | self._touched
        for path in sorted(gone):
            self._remove(path, listing.found.get(path))
        self._touched.clear()
        size = 0
        for path, status in listing.found.items():
            _refuse_left(left)
            known = self._bring(path, status)
            if known is None:
                continue
            size += known.copy.size
            if size > self.bounds.size:
                raise too_large(self.bounds)
        told = [*listing.told, *self._lay_over(spec, size, len(listing.found))]
        self._close_folders()
        self._settled_at = self._now()
        return tuple(told)

    def _lay_over(self, spec: SandboxSpec, size: int, files: int) -> Iterator[str]:
        """Lay staged changes over the copy, for one program; yield what cannot be, with reasons.

        Their paths count as touched, so that the next program finds there what is on the disk.
        """
        if not spec.over:
            return
        over = visible(self._spec, self._root)
        # No program needs the contents after this, and the run's view may end before the copy.
        bare = (replace(file, parts=_nothing) for file in spec.over)
        self._spec = replace(self._spec, over=tuple(bare))
        unseen = [name for name in over if not _is_text(name)]
        for name in unseen:
            del over[name]
            yield _told(name, _NOT_TEXT)
        size += sum(file.size for file in over.values())
        if files + len(over) > self.bounds.files or size > self.bounds.size:
            raise too_large(self.bounds)
        self._touched.update(over)
        laid = lay_over_copy(
            {name: self._with_own_target(file) for name, file in over.items()}, self.folder
        )
        self._touched.update(laid)
        for path in list(self._known):
            if path in laid or is_gone(path, laid):
                del self._known[path]
                self._touched.add(path)
        for name, state in laid.items():
            if state is not None:
                stamp = _stamp((self.folder / name).lstat())
                self._known[name] = _Known(None, stamp, replace_mode(state, state.mode))

    def _with_own_target(self, file: StagedFile) -> StagedFile:
        if file.kind != "symlink":
            return file
        return replace(file, target=_own_target(self._root, Path(file.real), file.target or ""))

    def _open_folders(self) -> None:
        """Make paths writable that are to change."""
        for path, known in self._known.items():
            if known.state.kind == "dir" and known.state.mode & 0o700 != 0o700:
                with suppress(*_GONE):
                    (self.folder / path).chmod(0o700)

    def _close_folders(self) -> None:
        for path, known in reversed(self._known.items()):
            if known.state.kind == "dir" and known.state.mode & 0o700 != 0o700:
                (self.folder / path).chmod(known.state.mode & _PERMISSIONS)

    def _remove(self, path: str, status: os.stat_result | None) -> None:
        """Take a path out of the copy; a folder that is to be one stays."""
        target = self.folder / path
        self._known.pop(path, None)
        try:
            found = target.lstat()
        except _GONE:
            return
        if not stat.S_ISDIR(found.st_mode):
            target.unlink()
        elif status is None or not stat.S_ISDIR(status.st_mode):
            remove_tree(target)

    def _bring(self, path: str, status: os.stat_result) -> _Known | None:
        """Bring one path of the copy up to date; None: it is gone from the folder meanwhile."""
        known = self._known.get(path)
        if known is not None:
            if _kind(status.st_mode) != known.state.kind:
                self._remove(path, None)
            elif known.state.kind == "dir":
                if stat.S_IMODE(status.st_mode) & _PERMISSIONS == known.state.mode:
                    return known
            elif known.source == _stamp(status):
                return known
            elif self._has_content(known, self._root / path, status):
                return self._keep(path, replace(known, source=_settled(status)))
            else:
                self._remove(path, None)
        try:
            if stat.S_ISREG(status.st_mode):
                copied = _bring_file(self._root, path, status, self.folder, self.bounds)
                return None if copied is None else self._keep(path, copied)
            if stat.S_ISDIR(status.st_mode):
                return self._keep(path, _bring_folder(self.folder / path, status))
            link = _bring_link(self._root, self._root / path, self.folder / path)
            return self._keep(path, link)
        except _GONE:
            self._known.pop(path, None)
            return None

    def _has_content(self, known: _Known, source: Path, status: os.stat_result) -> bool:
        """Return whether a file whose time proves nothing is still the copied one."""
        if known.source is not None or known.state.kind != "file":
            return False
        same = (known.copy.size, known.state.mode) == (
            status.st_size,
            stat.S_IMODE(status.st_mode) & _PERMISSIONS,
        )
        if not same:
            return False
        with suppress(OSError):
            return _digest(source) == known.state.digest
        return False

    def _keep(self, path: str, known: _Known) -> _Known:
        self._known[path] = known
        return known

    def _now(self) -> int:
        """Return the time as the copy's file system counts it."""
        probe = self.place / "time"
        probe.unlink(missing_ok=True)
        probe.touch(mode=0o600)
        return probe.lstat().st_ctime_ns

    def _left(self) -> Iterator[tuple[str, os.stat_result]]:
        """Return everything that is in the copy now."""
        count = 0
        waiting = [("", 0)]
        while waiting:
            above, depth = waiting.pop()
            with os.scandir(self.folder / above) as entries:
                for entry in entries:
                    count += 1
                    path = f"{above}/{entry.name}" if above else entry.name
                    if count > self.bounds.files or depth > _DEEPEST or len(path) > _LONGEST_PATH:
                        raise TooLarge(
                            f"the program left more than {self.bounds.files:,} files, or folders"
                            " nested too deeply; none of its changes were kept"
                        )
                    status = entry.stat(follow_symlinks=False)
                    yield path, status
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append((path, depth + 1))

    def _is_same(self, known: _Known, status: os.stat_result) -> bool:
        """Return whether a path of the copy was left as it was put there."""
        if known.state.kind == "dir":
            mode = stat.S_IMODE(status.st_mode) & _PERMISSIONS
            return stat.S_ISDIR(status.st_mode) and mode == known.state.mode
        if _HAS_CTIME and known.copy.ctime < self._settled_at:
            return known.copy == _stamp(status)
        return False


class _Listing:
    """The part of a folder that a program may see.

    Args:
        root: The folder.
        spec: Their hidden paths.
        bounds: Its largest size.
        scratch: The folder of all copies, which may lie in it.
    """

    def __init__(self, root: Path, spec: SandboxSpec, bounds: Bounds, scratch: Path) -> None:
        self.found: dict[str, os.stat_result] = {}
        """By relative path, folders before what is in them."""

        self.unseen: list[Path] = []
        """Left out though no policy hides it."""

        self.told: list[str] = []
        """The same, for people, with reasons."""

        self._hidden = {str(path.resolve()) for path in spec.hidden}
        self._hidden.update(str(path) for path in spec.hidden)
        self._hidden.add(str(scratch))
        self._linked = frozenset(_linked_files(self._hidden))
        size = 0
        waiting = [(str(root), "", root.stat())]
        while waiting:
            for path, name, status in self._entries(*waiting.pop()):
                self.found[name] = status
                size += status.st_size if stat.S_ISREG(status.st_mode) else 0
                if len(self.found) > bounds.files or size > bounds.size:
                    raise too_large(bounds)
                if stat.S_ISDIR(status.st_mode):
                    waiting.append((path, f"{name}/", status))

    def _entries(
        self, folder: str, above: str, listed: os.stat_result
    ) -> Iterator[tuple[str, str, os.stat_result]]:
        """Yield what is in a folder, unless another one is there by now, as behind a symlink."""
        try:
            descriptor = os.open(folder, _FOLDER)
        except PermissionError:
            self._leave_out(Path(folder), above.rstrip("/") or ".", "it may not be read")
            return
        except _GONE:
            return
        try:
            if not os.path.samestat(os.fstat(descriptor), listed):
                return
            with os.scandir(descriptor) as found:
                for entry in found:
                    path, name = f"{folder}/{entry.name}", f"{above}{entry.name}"
                    if path in self._hidden:
                        continue
                    with suppress(*_GONE):
                        status = entry.stat(follow_symlinks=False)
                        if why := self._why_not(entry.name, path, status):
                            self._leave_out(Path(path), name, why)
                        elif (status.st_dev, status.st_ino) not in self._linked:
                            yield path, name, status
        finally:
            os.close(descriptor)

    def _why_not(self, name: str, path: str, status: os.stat_result) -> str:
        if not _is_text(name):
            return _NOT_TEXT
        if _kind(status.st_mode) == "other":
            return "it is no file, folder or symlink"
        if stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK):
            return "it may not be read"
        return ""

    def _leave_out(self, path: Path, name: str, why: str) -> None:
        self.unseen.append(path)
        self.told.append(_told(name, why))


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _told(name: str, why: str) -> str:
    return f"{os.fsencode(name).decode('utf-8', 'backslashreplace')} ({why})"


def _nothing() -> Iterator[bytes]:
    return iter(())


def _refuse_left(left: Event) -> None:
    if left.is_set():
        raise EngineError("the copy of the workspace is waited for no longer")


def too_large(bounds: Bounds) -> TooLarge:
    """Return the error for a workspace that cannot be copied."""
    return TooLarge(
        f"the workspace is too large for programs without a jail: more than {bounds.files:,} files"
        f" or {bounds.size >> 20:,} MB",
        hint="Open a smaller folder as the workspace, or use a machine on which a jail works.",
    )


def replace_mode(state: PathState, mode: int | None) -> PathState:
    """Return a state with other permission bits; a symlink has none of its own."""
    if mode is None or state.kind not in ("file", "dir"):
        return state
    return state._replace(mode=mode & _PERMISSIONS)


def _bring_folder(target: Path, status: os.stat_result) -> _Known:
    target.mkdir(mode=0o700, exist_ok=True)
    mode = stat.S_IMODE(status.st_mode) & _PERMISSIONS
    target.chmod(mode | 0o700)
    return _Known(None, _stamp(target.lstat()), PathState("dir", mode, None, None))


def _bring_link(root: Path, source: Path, target: Path) -> _Known:
    status = source.lstat()
    try:
        held = os.readlink(source)  # noqa: PTH115  a path would not keep its exact words
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise FileNotFoundError(errno.ENOENT, "it is no symlink any longer") from error
    says = _own_target(root, source, held)
    target.symlink_to(says)
    return _Known(_settled(status), _stamp(target.lstat()), PathState("symlink", 0, None, says))


def _own_target(root: Path, source: Path, says: str) -> str:
    """Return what a symlink of the folder says in the copy."""
    if Path(says).is_absolute() and Path(says).is_relative_to(root):
        # The copy has another place, and a program sees no absolute ones.
        return os.path.relpath(says, source.parent)
    return says


def _opened(root: Path, path: str, listed: os.stat_result) -> int:
    """Open a file; where it is not the listed one, folder by folder, so that none is a symlink."""
    reader = os.open(f"{root}/{path}", _READ)
    if os.path.samestat(os.fstat(reader), listed):
        return reader
    os.close(reader)
    *folders, name = path.split("/")
    above = os.open(root, _FOLDER)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER | _NO_FOLLOW, dir_fd=above)
            os.close(above)
            above = inner
        return os.open(name, _READ, dir_fd=above)
    finally:
        os.close(above)


def _bring_file(
    root: Path, path: str, listed: os.stat_result, copy: Path, bounds: Bounds
) -> _Known | None:
    """Copy a file, whole as it was at one moment where its writers let us.

    Plain strings and descriptors: most of the time of a copy is spent here.
    """
    target = f"{copy}/{path}"
    for left in reversed(range(_TRIES)):
        try:
            reader = _opened(root, path, listed)
        except OSError:
            return None  # replaced by a symlink, or closed to us just now
        try:
            before = os.fstat(reader)
            if not stat.S_ISREG(before.st_mode):
                return None
            mode = stat.S_IMODE(before.st_mode) & _PERMISSIONS
            digest, status = _copy_bytes(reader, target, mode, before, bounds)
            after = os.fstat(reader)
        finally:
            os.close(reader)
        if _stamp(before) == _stamp(after) or not left:
            state = PathState("file", mode, digest, None)
            return _Known(_settled(after, before), _stamp(status), state)
        os.unlink(target)  # noqa: PTH108  as said
    return None


def _copy_bytes(
    reader: int, target: str, mode: int, times: os.stat_result, bounds: Bounds
) -> tuple[str, os.stat_result]:
    """Write a new file; return the hash of the bytes read, and the file's status."""
    writer = os.open(target, _MAKE, 0o600)
    try:
        digest, size = hashlib.sha256(), 0
        while data := os.read(reader, _CHUNK):
            size += len(data)
            if size > bounds.size:
                raise too_large(bounds)
            digest.update(data)
            written = os.write(writer, data)
            while written < len(data):
                written += os.write(writer, data[written:])
        if sys.platform != "win32":
            os.fchmod(writer, mode)
        os.utime(_by(writer, target), ns=(times.st_atime_ns, times.st_mtime_ns))
        return digest.hexdigest(), os.fstat(writer)
    finally:
        os.close(writer)


def _by(fd: int, path: str) -> int | str:
    """Return how the times of an open file are set here."""
    return fd if os.utime in os.supports_fd else path


def _state(path: Path, status: os.stat_result) -> PathState:
    kind, mode = _kind(status.st_mode), stat.S_IMODE(status.st_mode)
    if kind == "symlink":
        return PathState(kind, 0, None, os.readlink(path))  # noqa: PTH115  as above
    return PathState(kind, mode & _PERMISSIONS, _digest(path) if kind == "file" else None, None)


def _digest(path: Path) -> str:
    with os.fdopen(os.open(path, _READ), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_size,
        status.st_ctime_ns,
        status.st_mtime_ns,
    )


def _settled(status: os.stat_result, before: os.stat_result | None = None) -> FileStamp | None:
    """Return a stamp to compare later; None where a further change might not alter it."""
    if not _HAS_CTIME or (before is not None and _stamp(before) != _stamp(status)):
        return None
    ctime = status.st_ctime_ns
    tick = _FINE_TICK if ctime % _SECOND else _COARSE_TICK
    return _stamp(status) if ctime + tick < time_ns() else None


def _linked_files(hidden: set[str]) -> Iterator[tuple[int, int]]:
    """Return which hidden files have other names too."""
    waiting = list(hidden)
    while waiting:
        path = waiting.pop()
        with suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                with os.scandir(path) as entries:
                    waiting += [entry.path for entry in entries]
            elif status.st_nlink > 1:
                yield status.st_dev, status.st_ino
