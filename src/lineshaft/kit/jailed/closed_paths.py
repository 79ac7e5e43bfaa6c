"""The paths of the workspace that policy closes to a program of `python_run`."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event

from msgspec import field

from lineshaft.files import Identity, OwnFolders, identity_of
from lineshaft.values import Reach, StagedFile, Struct

Look = Callable[[str], Reach]


class Closed(Struct):
    """Paths of a workspace that a program may not see, or not change."""

    hidden: list[Path] = field(default_factory=list[Path])
    readonly: list[Path] = field(default_factory=list[Path])


def closed(
    root: Path,
    look: Look,
    needed: Iterable[Path] = (),
    *,
    staged: Iterable[StagedFile] = (),
    left: Event | None = None,
) -> Closed:
    """Walk a workspace and return what is closed in it, on the disk and in the run's view.

    What lies below a hidden folder is left out. Symlinks are not looked at: what they lead to has
    a name of its own. Other names of a hidden file are as hidden, and so are Lineshaft's own
    folders.

    Args:
        root: Its folder.
        look: What policy says of a canonical path.
        needed: What the program cannot do without: it is read-only where it would be hidden as
            Lineshaft's own, which the interpreter is.
        staged: The changes of the run that have not landed.
        left: Set once it is waited for no longer; then it ends before the next folder.
    """
    found = Closed()
    kept = {str(path.resolve()) for path in needed}
    own = OwnFolders()
    identities = own.identities()
    real = str(root.resolve())
    names: dict[int, list[str]] = {}
    waiting: list[tuple[str, str]] = [(str(root), "")]
    while waiting:
        if left is not None and left.is_set():
            break
        folder, above = waiting.pop()
        for entry in _entries(folder):
            if entry.is_symlink():
                continue
            name = f"{above}{entry.name}"
            reach = look(canonical(name))
            place = f"{real}{os.sep}{name}"
            is_own = own.hold(place) or _is_one_of(entry, identities)
            if is_own and place in kept:
                found.readonly.append(Path(entry.path))
                continue
            if is_own and any(path.startswith(place + os.sep) for path in kept):
                waiting.append((entry.path, f"{name}/"))
                continue
            if reach == "hidden" or is_own:
                found.hidden.append(Path(entry.path))
                continue
            if reach == "readonly":
                found.readonly.append(Path(entry.path))
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{name}/"))
            else:
                names.setdefault(entry.inode(), []).append(entry.path)
    others = _other_names(found.hidden, names)
    found.hidden += others
    _close_staged(found, staged, _Staged(root, look, own, frozenset(map(str, others))))
    return found


class _Staged(Struct, frozen=True):
    """By what the staged changes of a run are closed."""

    root: Path
    look: Look
    own: OwnFolders
    hidden: frozenset[str]
    """Other names of hidden files."""


def _close_staged(found: Closed, staged: Iterable[StagedFile], by: _Staged) -> None:
    """Add what is closed of the paths that are to be."""
    said: dict[str, Reach] = {}
    on_disk = {*found.hidden, *found.readonly}
    above = str(by.root).rstrip(os.sep) + os.sep
    for file in staged:
        if file.kind == "missing" or not file.real.startswith(above):
            continue
        if file.came_from in by.hidden or by.own.hold(file.real):
            found.hidden.append(Path(file.real))
            continue
        name = ""
        for part in Path(file.real.removeprefix(above)).parts:
            name = f"{name}/{part}" if name else part
            if name not in said:
                said[name] = reach = by.look(canonical(name))
                place = by.root / name
                if reach != "open" and place not in on_disk:
                    (found.hidden if reach == "hidden" else found.readonly).append(place)


def _is_one_of(entry: "os.DirEntry[str]", identities: set[Identity]) -> bool:
    try:
        return entry.is_dir() and identity_of(entry.stat()) in identities
    except OSError:
        return False  # gone by now


def canonical(name: str) -> str:
    """Return the workspace's name for a path relative to its root."""
    return f"./{name}" if name.startswith("@") else name


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # gone, or closed to us, and so to the program


def _other_names(hidden: list[Path], names: dict[int, list[str]]) -> list[Path]:
    """Return the open names of files that are also in sight as hidden ones."""
    return [
        Path(name)
        for path in hidden
        for file, number in _files(path)
        for name in names.get(number, ())
        if _same(name, file)
    ]


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except FileNotFoundError:
        return False


def _files(path: Path) -> Iterator[tuple[str, int]]:
    """Return a file, or all in a folder, with their numbers on the disk."""
    if not path.is_dir():
        with suppress(FileNotFoundError):
            yield str(path), path.lstat().st_ino
        return
    waiting = [str(path)]
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.inode()
