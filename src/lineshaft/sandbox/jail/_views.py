"""Paths inside by which a closed file can be reached.

A file closed under one path may be reachable by another: through a symlink to its folder, or by a
second name of the same file. A missed name is a hole.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

FileId = tuple[int, int]


def in_sight(closed: Iterable[Path], trees: Iterable[Path]) -> list[Path]:
    """Return every path by which closed files can be reached through some open trees.

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
    """Return the other names of closed files in some trees; files in closed folders have none.

    Args:
        closed: Files and folders.
        trees: Folders to search; they are not searched where no closed file has a second name.
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
    """Return those of some files, and of the files in some folders, that have other names too."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            with suppress(FileNotFoundError):  # it was removed just now
                if file.lstat().st_nlink > 1 and not file.is_dir():
                    yield file_id(file)


def file_id(path: Path) -> FileId:
    """Return the identity that all names of one file share."""
    found = path.lstat()
    return found.st_dev, found.st_ino
