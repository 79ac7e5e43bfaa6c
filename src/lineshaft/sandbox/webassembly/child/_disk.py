"""Use of the disk by a running program."""

import os
import sys
from collections.abc import Sequence


class Gauge:
    """Measures folders against a bound, relative to what they held at first.

    Args:
        folders: The folders that a program can write.
        files: The most entries that may be added.
        size: The most bytes of the disk that may be added.
    """

    def __init__(self, folders: Sequence[str], *, files: int, size: int) -> None:
        self._folders = folders
        self._files, self._size = _usage(folders)
        self._most_files, self._most_size = self._files + files, self._size + size
        self._free = self._free_bytes()
        self._left = size

    def is_suspicious(self) -> bool:
        """Return whether the disk's free space shrank by as much as the program may add; cheap."""
        return self._free - self._free_bytes() > self._left

    def is_over(self) -> bool:
        """Measure; return whether the bound is passed."""
        self._free = self._free_bytes()
        files, size = _usage(self._folders, self._most_files, self._most_size)
        self._left = max(0, self._most_size - size) // 2
        return files > self._most_files or size > self._most_size

    def _free_bytes(self) -> int:
        if sys.platform == "win32" or not hasattr(os, "statvfs"):
            return 0
        found = os.statvfs(self._folders[0])
        return found.f_bavail * found.f_frsize


def _usage(
    folders: Sequence[str], most_files: float = float("inf"), most_size: float = float("inf")
) -> tuple[int, int]:
    """Return entries and bytes, no more than shows that a bound is passed."""
    files = size = 0
    waiting = list(folders)
    while waiting and files <= most_files and size <= most_size:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    files += 1
                    size += _allocated(status)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if files > most_files or size > most_size:
                        break
        except OSError:  # removed meanwhile, or deeper than a path can name
            continue
    return files, size


def _allocated(status: os.stat_result) -> int:
    """Return a file's use of the disk: a sparse one uses less than its size."""
    blocks = getattr(status, "st_blocks", None)
    return status.st_size if blocks is None else blocks * 512
