"""Staged changes of a run, laid over the folder that a program sees apart from the real one.

Above: the boundaries. Below: the upper layer of an overlay, or a copy; both are private, and no
program runs in them while this is done. What is hidden from the program is not laid over.
"""

import os
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from lineshaft.errors import EngineError, NoBoundary, StaleFile
from lineshaft.files import remove_tree
from lineshaft.sandbox.jail._differences import PathState
from lineshaft.sandbox.jail._spec import SandboxSpec
from lineshaft.values import StagedFile

Laid = Mapping[str, PathState | None]
"""The states of what was laid over, by relative path; None: nothing is there, nor below it."""

NO_OVERLAY = "NoOverlay"
"""In the message of an error: the folder can be kept apart by a copy."""

_GONE = (FileNotFoundError, NotADirectoryError)
_OWNERS = 0o700
_MAKE = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def visible(spec: SandboxSpec, root: Path) -> dict[str, StagedFile]:
    """Return what a program sees of the staged changes, by relative path, folders first.

    Args:
        spec: The changes, and the paths that are hidden.
        root: The folder, its path resolved; changes elsewhere are left out.
    """
    if not spec.over:
        return {}
    hidden = {str(path) for path in spec.hidden}
    hidden.update(str(path.resolve()) for path in spec.hidden)
    above = str(root).rstrip(os.sep) + os.sep
    found: dict[str, StagedFile] = {}
    for file in spec.over:
        name = file.real.removeprefix(above)
        if name != file.real and not _is_below(file.real, hidden):
            found[name.replace(os.sep, "/")] = file
    return dict(sorted(found.items(), key=lambda item: item[0].split("/")))


def _is_below(place: str, places: set[str]) -> bool:
    """Return whether a path is one of some places, or lies below one."""
    while place and place not in places:
        place = place.rpartition(os.sep)[0]
    return bool(place)


def is_gone(name: str, laid: Laid) -> bool:
    """Return whether what was laid over leaves no folder for a path to be in."""
    while name := name.rpartition("/")[0]:
        if name in laid:
            state = laid[name]
            return state is None or state.kind != "dir"
    return False


def lay_over_copy(files: Mapping[str, StagedFile], copy: Path) -> Laid:
    """Lay staged changes over a copy of the folder.

    Args:
        files: As `visible` gives them.
        copy: The copy.

    Returns:
        The states of their paths afterwards.

    Raises:
        StaleFile: A file that was only moved has another content by now.
        EngineError: There is no room, or the copy cannot be written.
    """
    return _Laying(copy, None).lay(files)


def lay_in_upper(files: Mapping[str, StagedFile], upper: Path, lower: Path) -> Laid:
    """Lay staged changes into the upper layer of an overlay, which is not mounted yet.

    Args:
        files: As `visible` gives them.
        upper: The layer, empty.
        lower: The folder that will be below it.

    Raises:
        NoBoundary: `NO_OVERLAY`; this machine does not let us mark a file as deleted.
        StaleFile: As for `lay_over_copy`.
        EngineError: As for `lay_over_copy`.
    """
    return _Laying(upper, lower).lay(files)


class _Laying:
    """Makes the paths of a private folder.

    Args:
        folder: The folder.
        lower: What will be below it; None: it is a copy, and nothing is.
    """

    def __init__(self, folder: Path, lower: Path | None) -> None:
        self._folder, self._lower = folder, lower
        self._laid: dict[str, PathState | None] = {}
        self._ways: set[str] = set()
        self._modes: dict[Path, int] = {}
        """The folders that get a mode at the end, once nothing is made in them any longer."""

    def lay(self, files: Mapping[str, StagedFile]) -> Laid:
        """Make them, and return their states."""
        for name, file in files.items():
            try:
                self._laid[name] = None
                if not is_gone(name, self._laid):
                    self._way_to(name)
                    self._lay(name, file)
            except OSError as error:
                raise EngineError(
                    f"the staged change of {file.path!r} cannot be shown to a program:"
                    f" {error.strerror or error}",
                    hint="Make room on the disk of the folder for temporary files (TMPDIR).",
                ) from error
        for folder, mode in reversed(self._modes.items()):
            folder.chmod(mode)
            name = folder.relative_to(self._folder).as_posix()
            if (state := self._laid.get(name)) is not None:
                self._laid[name] = state._replace(mode=stat.S_IMODE(folder.lstat().st_mode))
        return self._laid

    def _lay(self, name: str, file: StagedFile) -> None:
        place = self._folder / name
        if file.kind == "missing":
            if self._lower is None:
                remove_tree(place)
            elif os.path.lexists(self._lower / name):
                _white_out(place)
            return
        if file.kind == "folder":
            self._make_folder(name, file.mode)
            return
        if self._lower is None and os.path.lexists(place):
            remove_tree(place)
        if file.kind == "symlink":
            place.symlink_to(file.target or "")
        else:
            self._write(place, file)
        mode = stat.S_IMODE(place.lstat().st_mode)
        self._laid[name] = PathState(file.kind, mode, file.sha256, file.target)
        self._keep_owner(name)

    def _write(self, place: Path, file: StagedFile) -> None:
        with os.fdopen(os.open(place, _MAKE, 0o666), "wb") as writer:
            for part in file.parts():
                writer.write(part)
        if file.mode is not None:
            # Who compares a copy later has to be able to read it.
            place.chmod(file.mode if self._lower is not None else file.mode | stat.S_IRUSR)

    def _make_folder(self, name: str, mode: int | None) -> None:
        place = self._folder / name
        there = _mode_of_folder(place)
        if there is None:
            if self._lower is None:
                remove_tree(place)
            place.mkdir()
            self._keep_owner(name)
            there = stat.S_IMODE(place.lstat().st_mode)
        self._open(place, there if mode is None else mode)
        self._laid[name] = PathState("dir", stat.S_IMODE(place.lstat().st_mode), None, None)

    def _open(self, folder: Path, mode: int) -> None:
        """Give a folder a mode; while things are made in it its owner may do all."""
        folder.chmod(mode | _OWNERS)
        if mode & _OWNERS != _OWNERS:
            self._modes[folder] = mode

    def _way_to(self, name: str) -> None:
        """See that the folders are there that a path lies in."""
        above = name.rpartition("/")[0]
        if not above or above in self._ways:
            return
        self._way_to(above)
        self._ways.add(above)
        place = self._folder / above
        there = _mode_of_folder(place)
        if there is None:
            self._make_way(above, place)
        elif there & _OWNERS != _OWNERS:
            self._open(place, there)

    def _make_way(self, above: str, place: Path) -> None:
        below = None if self._lower is None else _mode_of_folder(self._lower / above)
        if os.path.lexists(place):
            raise StaleFile(
                f"the folder {above!r} was replaced from outside since this run changed a file"
                " in it",
                hint="Read the file again, then decide.",
            )
        place.mkdir()
        if below is not None:
            self._keep_owner(above)
            self._open(place, below)
        elif above not in self._laid:
            mode = stat.S_IMODE(place.lstat().st_mode)
            self._laid[above] = PathState("dir", mode, None, None)

    def _keep_owner(self, name: str) -> None:
        """Give a path of an upper layer the owner of what it covers, where we may."""
        if self._lower is None or sys.platform == "win32":
            return
        with suppress(*_GONE, PermissionError):
            whose, place = (self._lower / name).lstat(), self._folder / name
            mine = place.lstat()
            if (whose.st_uid, whose.st_gid) != (mine.st_uid, mine.st_gid):
                os.chown(place, whose.st_uid, whose.st_gid, follow_symlinks=False)


def _mode_of_folder(place: Path) -> int | None:
    """Return the permission bits of a folder; None where none is."""
    try:
        found = place.lstat()
    except _GONE:
        return None
    return stat.S_IMODE(found.st_mode) if stat.S_ISDIR(found.st_mode) else None


def _white_out(place: Path) -> None:
    """Mark a path of an upper layer as deleted."""
    if sys.platform == "win32":
        return
    try:
        os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))
    except PermissionError as error:
        raise NoBoundary(f"{NO_OVERLAY}: files cannot be marked as deleted here") from error


def states_as_json(laid: Laid) -> dict[str, list[object] | None]:
    """Return states as the broker's accountant writes them, by the path's bytes."""
    return {os.fsencode(name).hex(): _words(state) for name, state in laid.items()}


def _words(state: PathState | None) -> list[object] | None:
    if state is None:
        return None
    if state.kind == "symlink":
        return [state.kind, 0, None, os.fsencode(state.target or "").hex()]
    return [state.kind, state.mode, state.digest, None]
