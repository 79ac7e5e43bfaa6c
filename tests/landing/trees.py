"""Trees as values, to be compared byte for byte."""

import os
import stat
from pathlib import Path

Tree = dict[str, tuple[object, ...]]


def tree_of(root: Path) -> Tree:
    """Return all that is below a folder: contents, modes, symlinks, empty folders."""
    found: Tree = {}
    for above, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(above, name)
            mode = path.lstat().st_mode
            key = path.relative_to(root).as_posix()
            if stat.S_ISLNK(mode):
                found[key] = ("symlink", str(path.readlink()))
            elif stat.S_ISDIR(mode):
                found[key] = ("folder", stat.S_IMODE(mode))
            else:
                found[key] = ("file", stat.S_IMODE(mode), path.read_bytes())
    return found


def make(root: Path, tree: Tree) -> None:
    """Make a tree in a folder that is empty."""
    for name, (kind, *facts) in sorted(tree.items()):
        path = root / name
        if kind == "symlink":
            path.symlink_to(str(facts[0]))
        elif kind == "folder":
            path.mkdir()
        else:
            path.write_bytes(bytes(facts[1]))  # type: ignore[call-overload]  bytes, by the kind before it
            path.chmod(facts[0] if isinstance(facts[0], int) else 0o644)
