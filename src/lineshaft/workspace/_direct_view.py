"""Direct actions on a folder: paths decided, files opened, written, moved.

Above: the folder workspace and its views. Below: `disk/mounts.py` resolves a path, `disk/access.py`
    and `disk/edits.py` open exactly that place. Each operation is one hop to a thread;
deciding a path takes no hop.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from anyio import to_thread
from msgspec.structs import replace

from lineshaft.errors import FileMissing, LineshaftError, OutsideWorkspace, WorkspaceError
from lineshaft.processes import start
from lineshaft.values import (
    NO_SECRETS,
    READ_TOGETHER,
    ApprovePaths,
    Capability,
    Change,
    Command,
    Content,
    Entry,
    Process,
    Resolved,
    SecretFinder,
    StagedFile,
)
from lineshaft.workspace import disk
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace._process_changes import Marks, Watched, compare
from lineshaft.workspace._shared import Shared, must_match, nothing_there
from lineshaft.workspace.disk import (
    MISSING,
    Decided,
    Found,
    Mounts,
    Place,
    State,
    both_names,
    entry_of,
    scan,
    start_of_walk,
    walk,
)

_BATCH = 200

_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Of commands: Python takes a source of the same second and size for the one that it has compiled,
and a run that tests, edits and tests again is fast enough for that."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class DirectView:
    """Reads and writes that go through to the disk.

    Args:
        mounts: Where paths lead.
        shared: What all views of the folder share.
        secrets: What is not cut in two where the output of commands is.
    """

    def __init__(
        self, mounts: Mounts, shared: Shared, *, secrets: SecretFinder = NO_SECRETS
    ) -> None:
        self._mounts = mounts
        self._shared = shared
        self._secrets = secrets

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of this workspace."""
        return self._shared.capabilities

    @property
    def _ledger(self) -> Ledger:
        return Ledger()

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Decide where a path leads, on the real file system.

        Raises:
            OutsideWorkspace: It leads out, is absolute, has a NUL, or names an unknown alias.
        """
        return self._mounts.place(path, follow=follow).resolved()

    async def stat(self, path: str) -> Entry:
        """Return what is at a path, or raise `FileMissing`."""
        place = self._mounts.place(path, follow=False)
        if place.root.editor is None:
            return self._stat(place)
        return await self._hop(self._stat, place)  # the editor is asked over the wire

    def _stat(self, place: disk.Place) -> Entry:
        status = disk.status(place)
        if status is None:
            self._ledger.seen.saw(place.path, None)
            raise disk.missing(place.path)
        return entry_of(self._mounts, Found(place, disk.kind_of(status.st_mode), status))

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """Return a file's bytes, and remember the version read for `E_STALE`.

        Args:
            path: The file.
            noted: Whether it counts as read.
        """
        return await self._hop(self._read, path, noted)

    def _read(self, path: str, noted: bool = True) -> Content:  # noqa: FBT001, FBT002  for a thread
        place, ledger = self._mounts.place(path), self._ledger if noted else Ledger()
        try:
            data = disk.read(place)
        except FileMissing:
            ledger.seen.saw(place.path, None)
            raise
        content = Content(data=data, sha256=hashlib.sha256(data).hexdigest())
        ledger.seen.saw(place.path, content.sha256)
        return content

    async def read_many(self, paths: Sequence[str]) -> list[Content | LineshaftError]:
        """As `Workspace.read_many`; one hop for all."""
        return await self._hop(self._read_many, paths)

    def _read_many(self, paths: Sequence[str]) -> list[Content | LineshaftError]:
        found: list[Content | LineshaftError] = []
        room = READ_TOGETHER
        for path in paths:
            if room < 0:
                break
            try:
                content = self._read(path)
            except LineshaftError as error:
                found.append(error)
            else:
                found.append(content)
                room -= len(content.data)
        return found

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """Return an empty result: everything is on the disk."""
        return ()

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """Write a file whole, parents created, in one step.

        Args:
            path: The file.
            data: All of its new content.
            if_match: The sha256 that it has to have.
            mode: Its new permission bits; None: they are kept, or as the system gives them.

        Raises:
            PreconditionFailed: `if_match` is not the sha256 of what is there.
            StaleFile: Another program changed it since this view read or wrote it.
        """
        return await self._hop(self._write, path, data, if_match, mode)

    def _write(self, path: str, data: bytes, if_match: str | None, mode: int | None) -> Change:
        place, ledger = self._writable(path), self._ledger

        def approve(state: State) -> None:
            must_match(place.path, state, if_match)
            ledger.seen.check(place.path, state)

        after = State("file", hashlib.sha256(data).hexdigest(), data)
        with self._shared.lock:
            before = disk.write(place, data, approve, mode=mode)
            change = ledger.changed(place.path, before, after)
            self._shared.sweep(place)
        return change

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """Make a folder, parents created; an existing one is kept, and gets the mode.

        Args:
            path: The folder.
            mode: Its permission bits; None: as they are, or as the system gives them.

        Raises:
            PreconditionFailed: A file or symlink is there.
        """
        return await self._hop(self._make_folder, path, mode)

    def _make_folder(self, path: str, mode: int | None) -> Change:
        place = self._writable(path)
        with self._shared.lock, nothing_there(place.path):
            before = disk.make_folder(place, mode=mode)
        return Change(path=place.path, kind="modified" if before.kind == "folder" else "created")

    async def link(self, path: str, target: str) -> Change:
        """Make a symlink where nothing is, parents created.

        Args:
            path: Its place.
            target: Its text: relative to its own folder, or an absolute path of this machine.

        Raises:
            OutsideWorkspace: It would lead out.
            PreconditionFailed: The place is not empty.
        """
        return await self._hop(self._make_link, path, target)

    def _make_link(self, path: str, target: str) -> Change:
        place = self._writable(path, follow=False)
        self._mounts.behind(place, target)
        self._mounts.must_stay(place)
        with self._shared.lock, disk.told(place.path), nothing_there(place.path):
            disk.link(place, target)
            return self._ledger.changed(place.path, MISSING, State("symlink", target=target))

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """Move a file or folder; `PreconditionFailed` where the target exists.

        Args:
            source: What to move.
            target: Its new path.
            approve: Takes every path below a folder, under its old and its new name, at the moment
                of the move; its exception is raised by the move, and nothing is moved.
        """
        return await self._hop(self._move, source, target, approve)

    def _move(self, source: str, target: str, approve: ApprovePaths | None) -> Change:
        old, new = self._writable(source, follow=False), self._writable(target, follow=False)
        ledger = self._ledger
        self._mounts.must_stay(old, new)
        with self._shared.lock, disk.told(new.path):
            if approve is not None:
                approve(both_names(old, new))
            with nothing_there(new.path):
                before = disk.move(old, new, partial(ledger.seen.check, old.path))
            if before.kind != "folder":
                return ledger.moved(old.path, new.path, before)
            for found in scan(new, ignore=None):
                if found.kind != "folder":
                    was = Place(
                        old.root, old.parts + found.place.parts[len(new.parts) :], old.writable
                    )
                    ledger.moved(was.path, found.place.path, State(found.kind))
        return Change(path=new.path, kind="moved", moved_from=old.path)

    async def delete(self, path: str) -> Change:
        """Delete a file or an empty folder; a symlink goes, its target stays."""
        return await self._hop(self._delete, path)

    def _delete(self, path: str) -> Change:
        place, ledger = self._writable(path, follow=False), self._ledger
        self._mounts.must_stay(place)
        with self._shared.lock:
            before = disk.delete(place, partial(ledger.seen.check, place.path))
            if before.kind == "folder":
                return Change(path=place.path, kind="deleted")
            return ledger.changed(place.path, before, MISSING)

    async def before(self, path: str) -> Content | None:
        """Return a file's content before the changes that have not landed; None: there was no file.

        It does not count as read.
        """
        return await self._hop(self._before, path)

    def _before(self, path: str) -> Content | None:
        try:
            data = disk.read(self._mounts.place(path))
        except FileMissing:
            return None
        return Content(data=data, sha256=hashlib.sha256(data).hexdigest())

    async def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """Return all entries below a folder, sorted, symlinked folders not entered.

        Args:
            root: Workspace path of the folder.
            ignore: Whether `.gitignore` files and `.git` are respected.
            depth: How many folders deep to go; 1: only the folder's own entries.
        """
        entries = walk(self._mounts, root, ignore=ignore, depth=depth)
        while batch := await self._hop(take, entries):
            for entry in batch:
                yield entry

    async def run(self, command: Command) -> Process:
        """Start a process; its `Exit` says what files of the workspace it changed."""
        place = await self._hop(start_of_walk, self._mounts, command.cwd)
        before = await self._hop(self._marks)
        process = await start(
            replace(command, env={**_ENVIRONMENT, **command.env}),
            cwd=Path(place.real),
            allow_env=self._shared.allow_env,
            secrets=self._secrets,
        )
        look = partial(self._changed_since, before)
        return Watched(process, partial(self._hop, look))

    def _marks(self) -> Marks:
        """Take a look at what a process may change: the tree, and what was seen elsewhere."""
        return Marks.of(self._mounts.place("."), self._seen_places())

    def _seen_places(self) -> Iterator[Place]:
        for path in self._seen_paths():
            with suppress(WorkspaceError):  # a name that is no text
                yield self._mounts.place(Decided(path))

    def _seen_paths(self) -> Collection[str]:
        """Return the paths of the files that were seen or changed through this view."""
        return tuple(self._ledger.seen.tokens)

    def _changed_since(self, before: Marks) -> tuple[Change, ...]:
        after = before.again()
        with self._shared.lock:
            changes = compare(before.found, after.found, self._ledger)
        self._acted(before.other_in(after))
        return changes

    def _acted(self, reals: Collection[str]) -> None:
        """Note that a process of this view has changed files, named by their real paths."""

    def _writable(self, path: str, *, follow: bool = True) -> Place:
        place = self._mounts.place(path, follow=follow)
        if not place.writable:
            raise OutsideWorkspace(f"{place.path!r} is mounted read-only")
        return place

    async def _hop(self, act: Callable[[*Ts], T], *arguments: *Ts) -> T:
        return await to_thread.run_sync(act, *arguments, limiter=self._shared.limiter)


def take(entries: Iterator[Entry]) -> list[Entry]:
    """Return the next entries of a walk."""
    return list(islice(entries, _BATCH))
