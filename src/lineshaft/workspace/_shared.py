"""Common parts and checks of all views of a folder."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from lineshaft.errors import PreconditionFailed, WorkspaceError
from lineshaft.values import Capability
from lineshaft.workspace import disk
from lineshaft.workspace.disk import Editor, Kind, Place, State
from lineshaft.workspace.journal import Journals

_THREADS = 16


class Shared:
    """The common parts of all views of a folder."""

    def __init__(
        self,
        allow_env: tuple[str, ...],
        journals: Journals | None = None,
        editor: Editor | None = None,
    ) -> None:
        self.allow_env = allow_env
        self.editor = editor
        """The window that shows the folder; None: none does."""

        self.journals = journals
        """The journals of landings; None: no change can be kept back."""

        self.limiter = anyio.CapacityLimiter(_THREADS)
        self.lock = threading.Lock()
        """Held from the look at a file until it is changed, so that runs do not interleave."""

        self._swept: set[tuple[str, ...]] = set()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of the workspace."""
        return frozenset({"run"} if self.journals is None else {"run", "staged", "atomic", "undo"})

    def sweep(self, place: Place) -> None:
        """Remove left-over temporary files the first time that a folder is written in."""
        folder = (place.root.real, *place.parts[:-1])
        if folder not in self._swept:
            self._swept.add(folder)
            disk.sweep(place)


def must_match(path: str, state: State, if_match: str | None) -> None:
    """Raise unless a file has the sha256 that the caller gave, if any."""
    if if_match is not None and state.sha256 != if_match.lower():
        found = f"its sha256 is {state.sha256}" if state.sha256 else "there is no such file"
        hint = "`if_match` is the `sha256` of `read_file`: read the file again, or leave it out."
        raise PreconditionFailed(f"{path!r} is not what `if_match` says: {found}", hint=hint)


def must_be_copied(path: str, kind: Kind) -> None:
    """Raise unless what is to be moved into `@state` or out of it is a file itself.

    Its content is copied, and what a symlink leads to is not what policy was asked about.

    Raises:
        FileMissing: Nothing is there.
        WorkspaceError: It is a symlink, a folder, a pipe or a device.
    """
    if kind == "missing":
        raise disk.missing(path)
    if kind != "file":
        what = {"symlink": "a symlink", "folder": "a folder"}.get(kind, "not a regular file")
        raise WorkspaceError(
            f"{path!r} is {what}: only regular files are moved into '@state' or out of it",
            hint="Move files one by one; of a symlink, read what it leads to and write that.",
        )


@contextmanager
def nothing_there(path: str) -> Generator[None]:
    """Turn the error of a place that must be free into one for the caller."""
    try:
        yield
    except FileExistsError as error:
        raise PreconditionFailed(
            f"{path!r} exists: nothing is overwritten",
            hint="Delete it first, or choose another name.",
        ) from error
