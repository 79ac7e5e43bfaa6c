"""Owners and modes of files: the test whether another user could have written a trusted file."""

import os
import stat
import sys
from pathlib import Path
from typing import Literal

Trusted = Literal["own", "root", "no"]
"""A file that only its user can write, one that only root can, or one that others can."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def trusted(status: os.stat_result) -> Trusted:
    """Judge a file or folder by its owner and mode.

    Args:
        status: The `fstat` of the open file, so that it belongs to the file that is read.
    """
    if sys.platform == "win32":
        return "own"  # the access list of a profile's folders keeps others out
    if status.st_mode & _OTHERS_WRITE:
        return "no"
    if status.st_uid == os.geteuid():
        return "own"
    return "root" if status.st_uid == 0 else "no"


def others_cannot_write(path: Path) -> bool:
    """Return whether no other user but root can put another file in the place of a path.

    Each folder above it belongs to root or to the user, and is closed to others or sticky.
    """
    if sys.platform == "win32":
        return True
    try:
        folders = [each.stat() for each in path.resolve(strict=True).parents]
    except OSError:
        return False
    return all(
        each.st_uid in (0, os.geteuid())
        and (not each.st_mode & _OTHERS_WRITE or each.st_mode & stat.S_ISVTX)
        for each in folders
    )
