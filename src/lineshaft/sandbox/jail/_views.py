"""Under which paths something closed is in sight inside.

What is closed may be named by one path and be in sight by another: a folder that was opened by a
symlink to it, or a second name of the same file. A name that is missed is a hole.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

FileId = tuple[int, int]


def in_sight(closed: Iterable[Path], trees: Iterable[Path]) -> list[Path]:
    """Return every path by which what is closed can be reached through some open trees.

    Args:
        closed: Files and folders; those that do not exist are left out.
        trees: Folders and files that are open, under the names that they have inside.
    """
    real = [(tree, tree.resolve()) for tree in dict.fromkeys(trees)]
    found: dict[Path, None] = {}
    for path in closed:
        there = path.resolve()
        if not os.path.lexists(there):
            continue
        for name, tree in real:
            if there == tree or tree in there.parents:
                found[name / there.relative_to(tree)] = None
    return list(found)


def other_names(closed: Iterable[Path], trees: Iterable[Path]) -> list[Path]:
    """Return the other names, in some trees, of closed files; what is in closed folders has none.

    Args:
        closed: Files and folders.
        trees: Folders in which to look; nobody looks where no closed file has a second name.
    """
    linked = frozenset(linked_files(path for path in closed if not path.is_dir()))
    if not linked:
        return []
    return [
        path
        for tree in dict.fromkeys(trees)
        for path in tree.rglob("*")
        if path.is_file() and file_id(path) in linked
    ]


def linked_files(paths: Iterable[Path]) -> Iterator[FileId]:
    """Return which of some files, and of what is in some folders, have other names too."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            with suppress(FileNotFoundError):  # somebody removed it just now
                if file.lstat().st_nlink > 1 and not file.is_dir():
                    yield file_id(file)


def file_id(path: Path) -> FileId:
    """Return what all names of one file have in common."""
    found = path.lstat()
    return found.st_dev, found.st_ino
