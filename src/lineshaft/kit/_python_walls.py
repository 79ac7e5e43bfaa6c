"""What `python_run` lets a program see: the workspace, less what policy closes."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from lineshaft.values import Reach

Look = Callable[[str], Reach]


@dataclass(slots=True)
class Closed:
    """Paths of a workspace that a program may not see, or not change."""

    hidden: list[Path] = field(default_factory=list[Path])
    readonly: list[Path] = field(default_factory=list[Path])


def closed(root: Path, look: Look) -> Closed:
    """Walk a workspace and return what is closed in it.

    What lies below a hidden folder is left out. Symlinks are not looked at: what they lead to has
    a name of its own. Other names of a hidden
    file are as hidden.

    Args:
        root: Its folder.
        look: What policy says of a canonical path.
    """
    found = Closed()
    names: dict[int, list[str]] = {}
    waiting: list[tuple[str, str]] = [(str(root), "")]
    while waiting:
        folder, above = waiting.pop()
        for entry in _entries(folder):
            if entry.is_symlink():
                continue
            name = f"{above}{entry.name}"
            reach = look(canonical(name))
            if reach == "hidden":
                found.hidden.append(Path(entry.path))
                continue
            if reach == "readonly":
                found.readonly.append(Path(entry.path))
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{name}/"))
            else:
                names.setdefault(entry.inode(), []).append(entry.path)
    found.hidden += _other_names(found.hidden, names)
    return found


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
