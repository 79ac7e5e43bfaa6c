"""One run's view of a folder whose changes stay in the view until they land.

Above: the gate and the kit's tools, which see no difference to a folder; whoever ends a run, who
calls `land` or `discard`. Below: `_overlay.py` holds what is to be, `_stage_edits.py` says what an
edit makes of it, `_landing.py` makes it real. `@state` is nobody else's: what is written there is
there at once.
"""

import hashlib
import shutil
import threading
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import cast

import anyio

from lineshaft.errors import ConfigError, FileMissing, WorkspaceError
from lineshaft.values import Change, Command, Content, Entry, Finding, Guard, Process
from lineshaft.workspace import _disk, _stage_edits
from lineshaft.workspace._diff import Changed, unified
from lineshaft.workspace._disk import MISSING, State
from lineshaft.workspace._guards import guarded
from lineshaft.workspace._landing import Landing, Stale, land
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace._mounts import Mounts, Place
from lineshaft.workspace._overlay import Base, Overlay
from lineshaft.workspace._pack import (
    Json,
    Packing,
    base_facts,
    base_from,
    changes_from,
    folder_facts,
    folder_from,
    overlay_facts,
    overlay_from,
    unpacked,
)
from lineshaft.workspace._scan import Found, entry_of, walk
from lineshaft.workspace._shared import Shared, must_match, nothing_there
from lineshaft.workspace._things import NOTHING, Sight, Thing, read_whole
from lineshaft.workspace._through import take
from lineshaft.workspace._view import FolderView

STATE = "state"


class StagedView(FolderView):
    """One run's view: it sees its own changes, the disk does not before they land.

    Args:
        mounts: Where paths lead.
        shared: What all views of the folder share.
        run_id: Whose changes they are.
    """

    def __init__(self, mounts: Mounts, shared: Shared, run_id: str) -> None:
        super().__init__(mounts, shared)
        self._plain, self._run_id = mounts, run_id
        self._mounts = self._mounts.with_links(self._link)
        self._overlay = Overlay()
        self._staged = self._memory.beside()
        self._sights: dict[str, Base] = {}
        self._done: list[Change] = []
        self._stages = 0
        self._version = 0
        self._lands = True
        self._lock = threading.RLock()
        self._landing = anyio.Lock()

    def _link(self, real: str) -> str | None:
        return self._overlay.link(real)

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        return self._stages

    # Looking.

    async def stat(self, path: str) -> Entry:
        """Return what is at a path, or raise `FileMissing`."""
        place = self._mounts.place(path, follow=False)
        tree = self._overlay
        status = tree.status(place)
        if status is None:
            if tree.find(place.real) is None:
                self._saw(place, Sight(NOTHING, None, time.time_ns()))
            raise _disk.missing(place.path)
        return entry_of(self._mounts, Found(place, _disk.kind_of(status.st_mode), status), tree)

    def _read(self, path: str) -> Content:
        place = self._mounts.place(path)
        if _is_private(place):
            return super()._read(path)
        if self._staged.told(place.path):
            self._look_again(place)
        node = self._overlay.find(place.real)
        if node is not None:
            data = self._overlay.read(place)
            return Content(data=data, sha256=node.thing.sha256 or "")
        try:
            sight = read_whole(place)
        except FileMissing:
            self._saw(place, Sight(NOTHING, None, time.time_ns()))
            raise
        self._saw(place, sight)
        return Content(data=sight.data or b"", sha256=sight.thing.sha256 or "")

    def _saw(self, place: Place, sight: Sight) -> None:
        base = Base(place, sight.without_data())
        if self._staged.told(place.path):
            self._sights[place.real] = base
        self._sights.setdefault(place.real, base)
        self._staged.saw(place.path, sight.thing.sha256)

    def _look_again(self, place: Place) -> None:
        """See a file that the run was told is stale as it is: what was to be written there goes."""
        with self._lock:
            node = self._overlay.nodes.get(place.real)
            if node is not None and node.came is None and self._staged.forget(place.path):
                self._overlay.forget(place)

    async def before(self, path: str) -> Content | None:
        """Return what a file was before the changes that have not landed; None: no file was there.

        It is not noted as read.
        """
        return await self._hop(self._before, path)

    def _before(self, path: str) -> Content | None:
        place = self._mounts.place(path)
        base = self._overlay.bases.get(place.real)
        try:
            if base is None:
                found = self._overlay.on_disk(place)
                return _content(read_whole(place)) if found.thing.kind == "file" else None
            if base.sight.thing.kind != "file":
                return None
            found = read_whole(base.place)
        except FileMissing:
            if base is None:
                return None
            raise self._staged.stale(place.path, "deleted") from None
        if not found.thing.like(base.sight.thing):
            raise self._staged.stale(place.path)
        return _content(found)

    async def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """Return all entries below a folder, sorted, symlinked folders not entered.

        Args:
            root: Workspace path of the folder.
            ignore: Whether `.gitignore` files and `.git` are respected.
            depth: How many folders deep; 1: only the folder's own entries.
        """
        entries = walk(self._mounts, root, ignore=ignore, depth=depth, tree=self._overlay)
        while batch := await self._hop(take, entries):
            for entry in batch:
                yield entry

    # Changing.

    def _write(self, path: str, data: bytes, if_match: str | None, mode: int | None) -> Change:
        place = self._writable(path)
        if _is_private(place):
            return super()._write(path, data, if_match, mode)
        with self._lock:
            before = self._now(place)
            must_match(place, before.thing.state(), if_match)
            self._staged.check(place.path, before.thing.state())
            if before.thing.kind != "missing":
                _disk.must_be_file(place.path, before.thing.kind)
            after = _stage_edits.write(self._overlay, place, data, before, mode=mode)
            return self._changed(place, before, after.state(data))

    def _make_folder(self, path: str, mode: int | None) -> Change:
        place = self._writable(path)
        if _is_private(place):
            return super()._make_folder(path, mode)
        with self._lock, nothing_there(place):
            before = self._now(place)
            after = _stage_edits.make_folder(self._overlay, place, before, mode=mode)
            return self._changed(place, before, after.state())

    def _make_link(self, path: str, target: str) -> Change:
        place = self._writable(path, follow=False)
        if _is_private(place):
            return super()._make_link(path, target)
        self._mounts.behind(place, target)
        with self._lock, nothing_there(place):
            before = self._now(place)
            after = _stage_edits.link(self._overlay, place, target, before)
            return self._changed(place, before, after.state())

    def _move(self, source: str, target: str) -> Change:
        old, new = self._writable(source, follow=False), self._writable(target, follow=False)
        if _is_private(old) or _is_private(new):
            return self._move_private(old, new)
        with self._lock, _disk.told(new.path), nothing_there(new):
            before = self._now(old)
            self._staged.check(old.path, before.thing.state())
            moved = _stage_edits.move(self._overlay, old, new, before)
            for was, now, sight in moved:
                if sight.thing.kind != "folder" or len(moved) == 1:
                    self._staged.moved(was.path, now.path, sight.thing.state(sight.data))
            self._version += 1
        thing = before.thing
        return Change(path=new.path, kind="moved", moved_from=old.path, sha256=thing.sha256)

    def _move_private(self, old: Place, new: Place) -> Change:
        """Move a file within `@state`, out of it or into it."""
        if _is_private(old) and _is_private(new):
            return super()._move(old.path, new.path)
        if self._overlay.status(new) is not None:
            with nothing_there(new):
                raise _stage_edits.exists()
        content = self._read(old.path)
        self._write(new.path, content.data, None, None)
        self._delete(old.path)
        return Change(path=new.path, kind="moved", moved_from=old.path, sha256=content.sha256)

    def _delete(self, path: str) -> Change:
        place = self._writable(path, follow=False)
        if _is_private(place):
            return super()._delete(path)
        with self._lock, _disk.told(place.path):
            before = self._now(place)
            self._staged.check(place.path, before.thing.state())
            _stage_edits.delete(self._overlay, place, before)
            return self._changed(place, before, MISSING)

    def _now(self, place: Place) -> Sight:
        """Return what is at a place in this view, if the disk is still as it was at first."""
        if not self._overlay.still(place):
            raise self._staged.stale(place.path)
        return self._overlay.look(place)

    def _changed(self, place: Place, before: Sight, after: State) -> Change:
        self._version += 1
        return self._staged.changed(place.path, before.thing.state(before.data), after)

    async def run(self, command: Command) -> Process:
        """Start a process; its `Exit` says what files of the workspace it changed.

        Raises:
            WorkspaceError: Changes wait to land, which the process would not see.
        """
        if next(self._overlay.changed(), None) is not None:
            raise WorkspaceError(
                "changes of this run have not landed: a process would not see them"
            )
        return await super().run(command)

    # The stage as a whole.

    async def changes(self) -> tuple[Change, ...]:
        """Return what this view changed, landed or not: one entry a path and stage, in order."""
        return await self._hop(self._changes)

    def _changes(self) -> tuple[Change, ...]:
        with self._lock:
            return (*self._done, *super()._changes(), *self._waiting())

    def _waiting(self) -> tuple[Change, ...]:
        number = self._stages + 1
        return tuple(replace(change, stage=number) for change in self._staged.changes())

    async def diff(self) -> str:
        """Return what has not landed as one unified diff, of a bounded size."""
        return await self._hop(self._diff)

    def _diff(self) -> str:
        with self._lock:
            things = {base.place.path: (base, node) for base, node in self._overlay.changed()}
            return unified(
                Changed(
                    change=change,
                    before=self._thing_before(change.moved_from or change.path),
                    after=self._thing_after(change.path),
                    old=partial(self._old, change.moved_from or change.path),
                    new=partial(self._new, change.path),
                )
                for change in self._staged.changes()
                if change.path in things
            )

    def _at(self, path: str) -> Place:
        return self._mounts.place(path, follow=False)

    def _thing_before(self, path: str) -> Thing:
        base = self._overlay.bases.get(self._at(path).real)
        return NOTHING if base is None else base.sight.thing

    def _thing_after(self, path: str) -> Thing:
        return self._overlay.nodes[self._at(path).real].thing

    def _old(self, path: str) -> bytes:
        content = self._before(path)
        return b"" if content is None else content.data

    def _new(self, path: str) -> bytes:
        return self._overlay.read(self._at(path))

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Make the changes real, all or none; where nothing is to land, nothing is asked.

        Returns:
            What the guards said, none of it an error.

        Raises:
            Guarded: A guard found an error; the error has all findings, nothing landed.
            StaleFile: Somebody else changed a file since it was read; nothing landed.
            WorkspaceError: They cannot land; nothing landed.
        """
        if not self._lands:
            raise ConfigError("a copy of a view never lands")
        async with self._landing:
            while next(self._overlay.changed(), None) is not None:
                version = self._version
                findings = await guarded(guards, self._waiting(), self)
                if await self._hop(self._land, version):
                    return findings
        return ()

    def _land(self, version: int) -> bool:
        """Land, unless something was changed since the guards were asked."""
        journals = self._shared.journals
        if journals is None:
            raise ConfigError("a folder without a journal cannot keep changes back")
        with self._lock:
            if version != self._version:
                return False
            landing = Landing(
                run_id=self._run_id,
                stage=self._stages + 1,
                changes=tuple(self._overlay.changed()),
                read=tuple(self._sights.values()),
            )
            try:
                with self._shared.lock:
                    land(journals, landing)
            except Stale as error:
                for path in error.paths:
                    self._staged.stale(path)
                raise
            waiting = self._waiting()
            self._stages += 1
            kept = bool(self._run_id)
            self._done += [replace(change, undoable=kept) for change in waiting]
            self._overlay, self._staged = Overlay(), self._memory.beside()
            self._sights.clear()
        return True

    async def discard(self) -> None:
        """End the view: what has not landed goes, and its `@state`."""
        await self._hop(self._discard)

    def _discard(self) -> None:
        with self._lock:
            self._overlay = Overlay()
            self._staged.drop()
            self._sights.clear()
            self._version += 1
        self._state.close()

    async def fork(self) -> "StagedView":
        """Return a copy of the view whose changes never land."""
        return await self._hop(self._fork)

    def _fork(self) -> "StagedView":
        with self._lock:
            other = StagedView(self._plain, self._shared, self._run_id)
            other._overlay = self._overlay.copy()
            other._memory = self._memory.copy()
            other._staged = self._staged.copy(other._memory)
            other._sights, other._done = dict(self._sights), list(self._done)
            other._stages, other._lands = self._stages, False
        if self._state.made:
            other._state.make()
            shutil.copytree(self._state.path, other._state.path, symlinks=True, dirs_exist_ok=True)
        return other

    async def pack(self) -> bytes:
        """Return what has not landed and what was seen, for a view that goes on elsewhere.

        Raises:
            TooLarge: It is more than anybody should keep.
        """
        return await self._hop(self._pack)

    def _pack(self) -> bytes:
        packing = Packing()
        with self._lock:
            facts = {
                "overlay": overlay_facts(self._overlay, packing),
                "memory": self._memory.facts(packing.put),
                "staged": self._staged.facts(packing.put),
                "sights": [base_facts(base) for base in self._sights.values()],
                "done": [asdict(change) for change in self._done],
                "stages": self._stages,
            }
            state = folder_facts(self._state.path, packing) if self._state.made else []
            return packing.packed({**facts, "state": state})

    def unpack(self, packed: bytes) -> None:
        """Go on where another view was; this one has done nothing yet.

        Raises:
            StateError: It is no packed view, or one of another version or folder.
        """
        facts, content = unpacked(packed)
        roots = self._plain.roots
        self._overlay = overlay_from(cast("Json", facts["overlay"]), content, roots)
        self._memory = Ledger.from_facts(cast("Json", facts["memory"]), content)
        self._staged = Ledger.from_facts(cast("Json", facts["staged"]), content, self._memory)
        sights = [base_from(fact, roots) for fact in cast("list[Json]", facts["sights"])]
        self._sights = {base.place.real: base for base in sights}
        self._done = changes_from(cast("list[object]", facts["done"]))
        self._stages = cast("int", facts["stages"])
        if facts["state"]:
            self._state.make()
            folder_from(cast("list[Json]", facts["state"]), content, self._state.path)


def _is_private(place: Place) -> bool:
    return place.root.alias == STATE


def _content(sight: Sight) -> Content:
    data = sight.data or b""
    return Content(data=data, sha256=hashlib.sha256(data).hexdigest())
