"""A workspace that is a folder: what is written there is on the disk at once.

Above: sessions, the gate and the kit's tools. Below: `_mounts.py` decides where a path leads,
`_disk.py` and `_edits.py` open just that. Each operation is one hop to a thread; deciding a path
takes no hop. A staged workspace would keep contents between the two and share the rest.
"""

import hashlib
import threading
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import anyio
from anyio import to_thread

from lineshaft.errors import (
    ConfigError,
    FileMissing,
    OutsideWorkspace,
    PreconditionFailed,
    RunUnknown,
)
from lineshaft.processes import start
from lineshaft.values import (
    Capability,
    Change,
    Command,
    Content,
    Entry,
    Exit,
    Finding,
    Guard,
    Line,
    Process,
    Resolved,
    Stage,
    Workspace,
)
from lineshaft.workspace import _disk, _edits
from lineshaft.workspace._compare import Mark, compare, snapshot
from lineshaft.workspace._disk import MISSING, State
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace._mounts import Mount, Mounts, Place
from lineshaft.workspace._scan import Found, entry_of, scan, start_of_walk, walk
from lineshaft.workspace._state import StateFolder, sweep_states

_THREADS = 16
_BATCH = 200

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Folder(Workspace):
    """A folder on this machine.

    Used as it is, it remembers nothing between operations; `begin` gives a view that does.

    Args:
        root: The folder.
        aliases: More folders, by alias.
        allow_env: Names (or patterns) of variables that its commands get from the host.

    Raises:
        ConfigError: A folder is missing.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        aliases: Mapping[str, Mount] | None = None,
        allow_env: Collection[str] = (),
    ) -> None:
        sweep_states()
        self._mounts = Mounts(root, aliases or {})
        self._shared = _Shared(tuple(allow_env))

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this workspace can do."""
        return frozenset({"run"})

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
        status = _disk.status(place)
        if status is None:
            self._ledger.saw(place.path, None)
            raise _disk.missing(place.path)
        return entry_of(self._mounts, Found(place, _disk.kind_of(status.st_mode), status))

    async def read(self, path: str) -> Content:
        """Return a file's bytes, and remember what was seen for `E_STALE`."""
        return await self._hop(self._read, path)

    def _read(self, path: str) -> Content:
        place, ledger = self._mounts.place(path), self._ledger
        try:
            data = _disk.read(place)
        except FileMissing:
            ledger.saw(place.path, None)
            raise
        content = Content(data=data, sha256=hashlib.sha256(data).hexdigest())
        ledger.saw(place.path, content.sha256)
        return content

    async def write(self, path: str, data: bytes, *, if_match: str | None = None) -> Change:
        """Write a file whole, parents created, its mode kept, in one step.

        Raises:
            PreconditionFailed: `if_match` is not the sha256 of what is there.
            StaleFile: Somebody else changed it since this view read or wrote it.
        """
        return await self._hop(self._write, path, data, if_match)

    def _write(self, path: str, data: bytes, if_match: str | None) -> Change:
        place, ledger = self._writable(path), self._ledger

        def approve(state: State) -> None:
            if if_match is not None and state.sha256 != if_match.lower():
                found = f"its sha256 is {state.sha256}" if state.sha256 else "there is no such file"
                raise PreconditionFailed(f"{place.path!r} is not what `if_match` says: {found}")
            ledger.check(place.path, state)

        after = State("file", hashlib.sha256(data).hexdigest(), data)
        with self._shared.lock:
            before = _edits.write(place, data, approve)
            change = ledger.changed(place.path, before, after)
            self._shared.sweep(place)
        return change

    async def move(self, source: str, target: str) -> Change:
        """Move a file or folder; `PreconditionFailed` where the target exists."""
        return await self._hop(self._move, source, target)

    def _move(self, source: str, target: str) -> Change:
        old, new = self._writable(source, follow=False), self._writable(target, follow=False)
        ledger = self._ledger
        with self._shared.lock, _disk.told(new.path):
            try:
                before = _edits.move(old, new, partial(ledger.check, old.path))
            except FileExistsError as error:
                raise PreconditionFailed(
                    f"{new.path!r} exists: a move overwrites nothing",
                    hint="Delete it first, or choose another name.",
                ) from error
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
        """Delete a file or an empty folder; a symlink goes, what it leads to stays."""
        return await self._hop(self._delete, path)

    def _delete(self, path: str) -> Change:
        place, ledger = self._writable(path, follow=False), self._ledger
        with self._shared.lock:
            before = _edits.delete(place, partial(ledger.check, place.path))
            if before.kind == "folder":
                return Change(path=place.path, kind="deleted")
            return ledger.changed(place.path, before, MISSING)

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
        while batch := await self._hop(_take, entries):
            for entry in batch:
                yield entry

    async def run(self, command: Command) -> Process:
        """Start a process; its `Exit` says what files of the workspace it changed."""
        place = await self._hop(start_of_walk, self._mounts, command.cwd)
        root = self._mounts.place(".")
        before = await self._hop(_marks, root)
        process = await start(command, cwd=Path(place.real), allow_env=self._shared.allow_env)
        ledger = self._ledger

        def look() -> tuple[Change, ...]:
            with self._shared.lock:
                return compare(before, _marks(root), ledger)

        return _Watched(process, partial(self._hop, look))

    def begin(
        self, run_id: str = "", *, atomic: bool = False, packed: bytes | None = None
    ) -> "FolderView":
        """Return a view for one run, which knows what it read and changed.

        Raises:
            ConfigError: Changes cannot wait here.
        """
        if atomic or packed is not None:
            raise ConfigError("a folder without a journal cannot keep changes back")
        return FolderView(self._mounts, self._shared)

    async def recover(self) -> tuple[Finding, ...]:
        """Return what was left half done: nothing, since each write is whole."""
        return ()

    async def undo(self, run_id: str) -> tuple[Change, ...]:
        """Refuse: what was written through is not kept."""
        raise RunUnknown(f"nothing is kept of the changes of run {run_id!r}")

    def _writable(self, path: str, *, follow: bool = True) -> Place:
        place = self._mounts.place(path, follow=follow)
        if not place.writable:
            raise OutsideWorkspace(f"{place.path!r} is mounted read-only")
        return place

    async def _hop(self, act: Callable[[*Ts], T], *arguments: *Ts) -> T:
        return await to_thread.run_sync(act, *arguments, limiter=self._shared.limiter)


class FolderView(Folder, Stage):
    """One run's view of a folder: all it does is on the disk at once, and remembered.

    It adds `@state`, a private folder for the run; `discard` removes it.
    """

    def __init__(self, mounts: Mounts, shared: "_Shared") -> None:
        self._state = StateFolder()
        self._mounts = mounts.with_mount("state", self._state.path, self._state.make)
        self._shared = shared
        self._memory = Ledger()

    @property
    def _ledger(self) -> Ledger:
        return self._memory

    @property
    def landed(self) -> int:
        """Everything lands at once: nothing is counted."""
        return 0

    async def diff(self) -> str:
        """Return what has not landed: nothing."""
        return ""

    async def fork(self) -> "FolderView":
        """Refuse: what is written here lands."""
        raise ConfigError("a view that writes through has no copies")

    async def pack(self) -> bytes:
        """Return what has not landed: nothing."""
        return b""

    async def changes(self) -> tuple[Change, ...]:
        """Return what this view changed, one entry a path, in order of first change."""
        return await self._hop(self._changes) if self._memory.touched else ()

    def _changes(self) -> tuple[Change, ...]:
        with self._shared.lock:
            return self._memory.changes()

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Return what the guards say, as warnings: the changes are on the disk already."""
        if not guards:
            return ()
        changes = await self.changes()
        return tuple(
            replace(finding, level="warning") if finding.level == "error" else finding
            for guard in guards
            for finding in guard(changes, self)
        )

    async def discard(self) -> None:
        """End the view: what it changed stays, its `@state` goes."""
        if self._state.made:
            await self._hop(self._state.close)


class _Shared:
    """What all views of a folder have in common."""

    def __init__(self, allow_env: tuple[str, ...]) -> None:
        self.allow_env = allow_env
        self.limiter = anyio.CapacityLimiter(_THREADS)
        self.lock = threading.Lock()
        """Held from the look at a file until it is changed, so that runs do not interleave."""

        self._swept: set[tuple[str, ...]] = set()

    def sweep(self, place: Place) -> None:
        """Remove left-over temporary files the first time that a folder is written in."""
        folder = (place.root.real, *place.parts[:-1])
        if folder not in self._swept:
            self._swept.add(folder)
            _edits.sweep(place)


class _Watched(Process):
    """A process, and a look at the tree when it has ended, however it did."""

    def __init__(self, process: Process, look: Callable[[], Awaitable[tuple[Change, ...]]]) -> None:
        self._process = process
        self._look = look
        self._changes: tuple[Change, ...] | None = None

    def lines(self) -> AsyncIterator[Line]:
        """Return its lines as they come; ends when the output ends."""
        return self._process.lines()

    async def wait(self) -> Exit:
        """Wait for the end; on cancellation the whole tree is ended first."""
        try:
            done = await self._process.wait()
        finally:
            if self._changes is None:
                with anyio.CancelScope(shield=True):
                    self._changes = await self._look()
        return replace(done, changes=self._changes)

    async def kill(self) -> None:
        """End the whole tree: SIGTERM, 2 s, SIGKILL; the drain takes 1 s at most."""
        await self._process.kill()


def _take(entries: Iterator[Entry]) -> list[Entry]:
    return list(islice(entries, _BATCH))


def _marks(root: Place) -> Mapping[Place, Mark]:
    with _disk.told(root.path):
        return snapshot(root)
