"""The tree as a walk needs it, and the tree on the disk.

Above: walks and ignore files. Below: `disk/access.py`; the other one is a stage, laid over it.
"""

import os
from collections.abc import Iterator
from typing import Protocol

from lineshaft.workspace.disk import access
from lineshaft.workspace.disk.mounts import Place


class Files(Protocol):
    """A tree that can be looked at."""

    def status(self, place: Place) -> os.stat_result | None:
        """Return the status of a place itself, or None where no file is."""
        ...

    def entries(self, place: Place) -> Iterator[tuple[str, os.stat_result]]:
        """Return the names in a folder with the status of each, unsorted.

        Raises:
            OSError: It is no folder, or may not be entered.
        """
        ...

    def read(self, place: Place) -> bytes:
        """Return a file's content, or raise `WorkspaceError`."""
        ...


class _OnDisk(Files):
    def status(self, place: Place) -> os.stat_result | None:
        return access.status(place)

    def entries(self, place: Place) -> Iterator[tuple[str, os.stat_result]]:
        with access.listing(place) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # gone by now
                yield entry.name, status

    def read(self, place: Place) -> bytes:
        return access.read(place)


DISK: Files = _OnDisk()
