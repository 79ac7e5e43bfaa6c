"""Sources of a journal's contents: memory, the disk, another journal."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from lineshaft.errors import StaleFile, WorkspaceError
from lineshaft.files import made_private
from lineshaft.values import Struct
from lineshaft.workspace import _contents, disk
from lineshaft.workspace._contents import Held
from lineshaft.workspace.disk import BY_DESCRIPTOR, FileState, Place, opened
from lineshaft.workspace.journal.storage import Journal

LARGE = 1_000_000
"""A content with more bytes is linked where it can be, not copied."""

_OWN_NAMES = 2
"""Of a file that was linked: its own and the one given to it."""


class FromStage(Struct, frozen=True):
    """A content that a view holds."""

    held: Held

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return _contents.size_of(self.held)

    def parts(self) -> Iterator[bytes]:
        """Return the content piece by piece."""
        return _contents.parts_of(self.held)

    def linked(self, to: Path) -> bool:
        """Refuse: it goes with the view."""
        del to
        return False


class FromDisk(Struct, frozen=True):
    """The content of a file of the workspace."""

    place: Place
    thing: FileState

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.thing.size

    def parts(self) -> Iterator[bytes]:
        """Return the content piece by piece.

        Raises:
            StaleFile: The content has changed.
        """
        digest = hashlib.sha256()
        for chunk in disk.parts_of(self.place):
            digest.update(chunk)
            yield chunk
        if digest.hexdigest() != self.thing.sha256:
            raise StaleFile(f"{self.place.path!r} was changed from outside just now")

    def linked(self, to: Path) -> bool:
        """Give it one more name, where it has one: under others it may be changed in place."""
        if self.thing.size < LARGE or not BY_DESCRIPTOR:
            return False
        made_private(to.parent)
        try:
            with opened(self.place) as (name, folder):
                os.link(name, to, src_dir_fd=folder, follow_symlinks=False)
            if to.stat().st_nlink > _OWN_NAMES:
                to.unlink()
                return False
        except (OSError, WorkspaceError):
            return False
        return True


class FromJournal(Struct, frozen=True):
    """A content that an earlier landing kept."""

    journal: Journal
    sha256: str

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.journal.size(self.sha256)

    def parts(self) -> Iterator[bytes]:
        """Return the content piece by piece."""
        return self.journal.parts(self.sha256)

    def linked(self, to: Path) -> bool:
        """Give it one more name, if it is a file of its own."""
        if self.size < LARGE:
            return False
        made_private(to.parent)
        return self.journal.linked(self.sha256, to)
