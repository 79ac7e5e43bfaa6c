"""The removal of folders that a hostile program filled."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path


def remove_tree(top: Path) -> None:
    """Remove a folder and all in it, however deeply nested, closed to its owner or not.

    Deep folders are moved up before they are emptied: neither a recursion nor a path grows with
    the depth. No symlink is followed. Entries that cannot be removed stay.
    """
    # Names that cannot be taken already.
    names = map(f".{secrets.token_hex(8)}-{{}}".format, count())
    waiting = [top]
    emptied: list[Path] = []
    with suppress(OSError):
        if not stat.S_ISDIR(top.lstat().st_mode):
            top.unlink()
            return
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            folder.chmod(0o700)
            with os.scandir(folder) as entries:
                found = list(entries)
            for entry in found:
                with suppress(OSError):
                    waiting += _taken_out(top, folder, entry, names)
            emptied.append(folder)
    for folder in reversed(emptied):
        with suppress(OSError):
            folder.rmdir()


def _taken_out(
    top: Path, folder: Path, entry: "os.DirEntry[str]", names: Iterator[str]
) -> list[Path]:
    """Remove an entry; return it where it is a folder, in its new place."""
    path = Path(entry.path)
    if not entry.is_dir(follow_symlinks=False):
        path.unlink()
        return []
    if folder == top:
        return [path]
    path.chmod(0o700)  # or it cannot be moved: its `..` changes
    moved = top / next(names)
    path.rename(moved)
    return [moved]
