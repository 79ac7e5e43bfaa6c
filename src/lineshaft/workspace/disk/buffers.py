"""Contents that an editor shows and has not saved: where there is one, it counts, not the disk.

Above: all that reads or changes files at decided places. Below: the editor's window, far away: its
    methods block, and are called in threads.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

from lineshaft.values import Struct


class Unsaved(Struct, frozen=True, dict=True):
    """A file's content as an editor shows it."""

    data: bytes | None
    """Its bytes, were it saved; None: the editor would not write down what was not changed as it
    is, so that it cannot be said."""

    @cached_property
    def sha256(self) -> str | None:
        """The hash of its bytes."""
        return None if self.data is None else hashlib.sha256(self.data).hexdigest()


class EditorEdit(Struct, frozen=True, kw_only=True):
    """The change of one file's content."""

    path: str
    """In the workspace, for messages."""

    real: str
    """On this machine."""

    before: str | None
    """Hash of the content that it has to have, in the editor or on the disk; None: no file."""

    after: bytes
    """All of its new content."""


class SavedFile(Struct, frozen=True, kw_only=True):
    """A file after its change."""

    data: bytes
    """Its content now, which formatting on save may have changed."""

    by_editor: bool
    """Whether one undo in the editor takes it back; else the file was written to the disk."""


class EditorReview(Struct, frozen=True, kw_only=True):
    """A change that is to land, for a person to keep or to drop."""

    path: str
    kind: str
    """As a `Change` has it."""

    moved_from: str | None = None
    before: bytes | None = None
    """Content before; None: there is none, or none to show."""

    after: bytes | None = None
    """Content that it is to have; as `before`."""

    note: str = ""
    """Why there is no content to show."""


class Editor(Protocol):
    """A window over the workspace's folder. Errors are `WorkspaceError`s."""

    def unsaved(self) -> Mapping[str, Unsaved]:
        """Return what is not saved, by the path on this machine; as it was a moment ago."""
        ...

    def look_again(self) -> None:
        """Forget what was seen a moment ago."""
        ...

    async def prepare(self, paths: Sequence[str], process: str = "") -> bool:
        """Ask the person about unsaved text that is in the way; wait for the answer.

        Args:
            paths: Files of the workspace that a landing changes.
            process: The process that is about to start and reads the disk, in words; empty: none.

        Returns:
            Whether the person wants to look at changes before they land.

        Raises:
            WindowRefused: The person refused; the message names the files.
        """
        ...

    async def review(self, changes: Sequence[EditorReview]) -> Mapping[str, str]:
        """Ask the person to keep or drop each of the changes; wait for the answer.

        Returns:
            Reasons by path of those that are dropped; empty where the person gave none.
        """
        ...

    def edit(self, edits: Sequence[EditorEdit]) -> Mapping[str, SavedFile]:
        """Change files, and save them.

        Returns:
            Each file after its change, by its path on this machine.

        Raises:
            StaleFile: A file has another content, or cannot be edited; the others are as they
                were, or are named.
        """
        ...
