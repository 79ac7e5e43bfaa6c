"""What `python_run` lets a program see: the workspace, less what policy closes."""

import os
from collections.abc import Callable
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
    linked: dict[tuple[int, int], list[Path]] = {}
    waiting: list[tuple[str, str]] = [(str(root), "")]
    while waiting:
        folder, above = waiting.pop()
        for entry in _entries(folder):
            name = f"{above}{entry.name}"
            if entry.is_symlink():
                continue
            reach = look(canonical(name))
            if reach == "hidden":
                found.hidden.append(Path(entry.path))
                continue
            if reach == "readonly":
                found.readonly.append(Path(entry.path))
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{name}/"))
            elif entry.stat(follow_symlinks=False).st_nlink > 1:
                status = entry.stat(follow_symlinks=False)
                linked.setdefault((status.st_dev, status.st_ino), []).append(Path(entry.path))
    if linked:
        found.hidden += _other_names(found.hidden, linked)
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


def _other_names(hidden: list[Path], linked: dict[tuple[int, int], list[Path]]) -> list[Path]:
    files = [file for path in hidden for file in ([path] if path.is_file() else path.rglob("*"))]
    return [other for file in files for other in linked.get(_identity(file), ())]


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino
