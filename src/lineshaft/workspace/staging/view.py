"""One run's view of a folder whose changes stay in the view until they land.

Above: the gate and the kit's tools, which see no difference to a folder; the end of a run, which
    calls `land` or `discard`. Below: `staging/overlay.py` holds the staged states,
    `staging/edits.py` makes edits to them, `staging/merging.py` merges those of a layer,
    `staging/landing.py` lands them. `@state` is the run's own: writes there are on the disk at
    once.
"""

import copy
import threading
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import anyio
from anyio.lowlevel import checkpoint
from msgspec.structs import replace

from lineshaft.errors import ConfigError, FileMissing, StaleFile, WorkspaceError
from lineshaft.values import (
    NO_SECRETS,
    ApprovePaths,
    Change,
    Command,
    Content,
    Entry,
    Finding,
    Guard,
    Process,
    SecretFinder,
    StagedFile,
)
from lineshaft.workspace import disk
from lineshaft.workspace._direct_view import take
from lineshaft.workspace._folder_view import FolderView
from lineshaft.workspace._ledger import Ledger, Seen
from lineshaft.workspace._shared import Shared, must_be_copied, must_match, nothing_there
from lineshaft.workspace.disk import (
    MISSING,
    NOTHING,
    Decided,
    Found,
    Mounts,
    Place,
    SeenState,
    State,
    both_names,
    entry_of,
    read_whole,
    walk,
)
from lineshaft.workspace.guards import guarded
from lineshaft.workspace.staging import checks, edits, merging
from lineshaft.workspace.staging.checks import content_of, is_held, is_private, is_small
from lineshaft.workspace.staging.diff import stage_diff
from lineshaft.workspace.staging.files import shown_file, staged_file
from lineshaft.workspace.staging.landing import Landing, land
from lineshaft.workspace.staging.memory import Memory
from lineshaft.workspace.staging.overlay import Base, Overlay
from lineshaft.workspace.staging.reviewing import Reviewed, dropped_by_person, to_review


class StagedView(FolderView):
    """One run's view: it sees its own changes, the disk does not before they land.

    A layer is a view over a view: it sees the changes of both, and what is below sees its own once
    they are merged.

    Args:
        mounts: The mounts that resolve paths.
        shared: The parts that all views of the folder share.
        run_id: Whose changes they are.
        lands: Whether its changes may land.
        secrets: What is not cut in two where text is cut.
    """

    def __init__(
        self,
        mounts: Mounts,
        shared: Shared,
        run_id: str,
        *,
        lands: bool = True,
        secrets: SecretFinder = NO_SECRETS,
    ) -> None:
        super().__init__(mounts, shared, secrets=secrets)
        self._plain, self._run_id, self._lands = mounts, run_id, lands
        self._unlinked = self._mounts
        self._mounts = self._mounts.with_links(self._link)
        self._memories: tuple[Memory, ...] = (Memory(),)
        """Its own, after those that it is laid over, the lowest first."""

        self._reviewed: set[Reviewed] | None = None
        """The changes that a person has kept; None: no person looks at them."""

        self._name = ""
        self._lock = threading.RLock()
        self._landing = anyio.Lock()

    @property
    def _memory(self) -> Memory:
        return self._memories[-1]

    @property
    def _ledger(self) -> Ledger:
        return self._memory.through

    @property
    def _overlay(self) -> Overlay:
        return self._memory.overlay

    @property
    def _staged(self) -> Ledger:
        return self._memory.staged

    @property
    def _seen(self) -> Seen:
        return self._memory.through.seen

    def _link(self, real: str) -> str | None:
        return self._overlay.link(real)

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        return self._memories[0].stages

    def goes_on(self, landings: Collection[object], changes: Iterable[Change]) -> None:
        """Go on from a view that died with its process.

        Args:
            landings: Those that it had made.
            changes: What they changed, as far as it can be undone.
        """
        self._memory.stages = len(landings)
        self._memory.done += changes

    @property
    def touched(self) -> bool:
        """Whether anything was ever changed through this view."""
        return self._memory.version > 0 or self._memory.touched

    def layer(self, name: str) -> "StagedView":
        """Return a view over this one, whose changes stay in it until `merge`.

        Args:
            name: Unique in this view; that of a packed layer goes on with it.
        """
        return self._with((*self._memories, self._memory.layer(name)), name)

    def _with(self, memories: tuple[Memory, ...], name: str = "") -> "StagedView":
        """Return a view of the same run with other memories."""
        other = copy.copy(self)
        other._become(memories, name)  # noqa: SLF001  of its own class
        return other

    def _become(self, memories: tuple[Memory, ...], name: str) -> None:
        self._memories, self._name = memories, name
        self._mounts = self._unlinked.with_links(self._link)

    async def merge(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Make the changes of this layer those of the view below, all or none.

        Returns:
            The guards' findings, none of them an error.

        Raises:
            Guarded: A guard found an error; nothing was merged.
            StaleFile: A file that it changes was changed below since; nothing was merged.
        """
        while True:
            version = self._version
            findings = await self.look(guards)
            if await self._hop(self._merge, version):
                return findings

    def _merge(self, version: int) -> bool:
        *_, below, own = self._memories
        with self._lock:
            if version != self._version:
                return False
            if paths := merging.stale(own):
                for path in paths:
                    self._seen.stale(path)
                raise merging.stale_below(paths)
            checks.must_not_be_stale(own, self._mounts)
            merging.merge(own, below)
            own.through = Ledger(own.through.seen)
            own.clear()
        return True

    def drop(self) -> None:
        """End a layer: its changes that were not merged are dropped."""
        *_, below, own = self._memories
        if below.layers.pop(self._name, None) is not None:
            below.through.absorb(own.through)  # its commands have acted
            self._memories[0].abandoned += own.unmerged(self.landed + 1)

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """The changes of layers that were dropped."""
        return tuple(self._memories[0].abandoned)

    @property
    def _version(self) -> int:
        return sum(memory.version for memory in self._memories)

    def _stat(self, place: Place) -> Entry:
        tree = self._overlay
        status = tree.status(place)
        if status is None:
            if tree.find(place.real) is None:
                self._saw(place, SeenState(NOTHING, None, time.time_ns()))
            elif tree.own(place.real) is None:
                self._seen.saw(place.path, None)
            raise disk.missing(place.path)
        return entry_of(self._mounts, Found(place, disk.kind_of(status.st_mode), status), tree)

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """Return a file's bytes, and remember the version read for `E_STALE`.

        Args:
            path: The file.
            noted: Whether it counts as read.
        """
        place = self._mounts.place(path)
        if place.path not in self._seen.reported and is_held(self._overlay, place):
            await checkpoint()
            return self._read(path, noted)
        return await self._hop(self._read, path, noted)

    def _read(self, path: str, noted: bool = True) -> Content:  # noqa: FBT001, FBT002  for a thread
        place = self._mounts.place(path)
        if is_private(place):
            return super()._read(path, noted)
        if noted and place.path in self._seen.reported:
            self._look_again(place)
        node = self._overlay.find(place.real)
        if node is not None:
            if noted and self._overlay.own(place.real) is None:
                self._seen.saw(place.path, node.thing.sha256)
            return Content(data=self._overlay.read(place), sha256=node.thing.sha256 or "")
        try:
            sight = read_whole(place)
        except FileMissing:
            if noted:
                self._saw(place, SeenState(NOTHING, None, time.time_ns()))
            raise
        if noted:
            self._saw(place, sight)
        return content_of(sight)

    def _saw(self, place: Place, sight: SeenState) -> None:
        if not is_private(place):  # nothing that lands builds on those
            base = Base(place, sight.without_data())
            if place.path in self._seen.reported:
                self._memory.sights[place.real] = base
            self._memory.sights.setdefault(place.real, base)
        self._seen.saw(place.path, sight.thing.sha256)

    def _look_again(self, place: Place) -> None:
        with self._lock:
            checks.look_again(self._memory, place)

    def _before(self, path: str) -> Content | None:
        place = self._mounts.place(path, follow=False)
        base = self._overlay.bases.get(place.real)
        if base is None:
            place = self._mounts.place(path)
            found = self._overlay.look_below(place)
            if found.thing.kind != "file":
                return None
            return content_of(self._overlay.read_below(place))
        if base.sight.thing.kind != "file":
            return None
        try:
            found = self._overlay.read_below(base.place)
        except FileMissing:
            raise self._seen.stale(place.path, "deleted") from None
        if not found.thing.like(base.sight.thing):
            raise self._seen.stale(place.path)
        return content_of(found)

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

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """Stage a file's whole content; arguments and errors are those of `DirectView.write`."""
        await checkpoint()
        place = self._writable(path)
        far = place.root.editor is not None  # to ask it takes a while
        quick = not far and not is_private(place) and is_small(self._overlay, place, data)
        if not (quick and self._lock.acquire(blocking=False)):
            return await super().write(path, data, if_match=if_match, mode=mode)
        try:
            return self._put(place, data, if_match, mode)
        finally:
            self._lock.release()

    def _write(self, path: str, data: bytes, if_match: str | None, mode: int | None) -> Change:
        place = self._writable(path)
        if is_private(place):
            return super()._write(path, data, if_match, mode)
        return self._put(place, data, if_match, mode)

    def _put(self, place: Place, data: bytes, if_match: str | None, mode: int | None) -> Change:
        with self._lock:
            before = self._read_before(place)
            must_match(place.path, before.thing.state(), if_match)
            self._seen.check(place.path, before.thing.state())
            if before.thing.kind != "missing":
                disk.must_be_file(place.path, before.thing.kind)
            after = edits.write(self._overlay, place, data, before, mode=mode)
            return self._changed(place, before, after.state(data))

    def _make_folder(self, path: str, mode: int | None) -> Change:
        place = self._writable(path)
        if is_private(place):
            return super()._make_folder(path, mode)
        with self._lock, nothing_there(place.path):
            before = self._now(place)
            after = edits.make_folder(self._overlay, place, before, mode=mode)
            noted = place.path in self._staged.files
            self._changed(place, before if noted else self._overlay.first(place), after.state())
        there = before.thing.kind == "folder"
        return Change(path=place.path, kind="modified" if there else "created")

    def _make_link(self, path: str, target: str) -> Change:
        place = self._writable(path, follow=False)
        if is_private(place):
            return super()._make_link(path, target)
        self._mounts.behind(place, target)
        self._mounts.must_stay(place)
        with self._lock, nothing_there(place.path):
            before = self._now(place)
            after = edits.link(self._overlay, place, target, before)
            return self._changed(place, before, after.state())

    def _move(self, source: str, target: str, approve: ApprovePaths | None) -> Change:
        old, new = self._writable(source, follow=False), self._writable(target, follow=False)
        if is_private(old) or is_private(new):
            return self._move_private(old, new, approve)
        self._mounts.must_stay(old, new)
        with self._lock, disk.told(new.path), nothing_there(new.path):
            before = self._saved(old)
            self._seen.check(old.path, before.thing.state())
            if approve is not None:
                approve(both_names(old, new, self._overlay))
            moved = edits.move(self._overlay, old, new, before)
            for was, now, sight in moved:
                known = was.path in self._seen.tokens
                if sight.thing.kind != "folder" or len(moved) == 1 or known:
                    self._staged.moved(was.path, now.path, sight.thing.state(sight.data))
            self._memory.version += 1
        thing = before.thing
        return Change(path=new.path, kind="moved", moved_from=old.path, sha256=thing.sha256)

    def _move_private(self, old: Place, new: Place, approve: ApprovePaths | None) -> Change:
        """Move a file within `@state`, out of it or into it."""
        source, target = Decided(old.path), Decided(new.path)  # no symlink is followed from here
        if is_private(old) and is_private(new):
            return super()._move(source, target, approve)
        if self._overlay.status(new) is not None:
            with nothing_there(new.path):
                raise edits.exists()
        before = self._saved(old)
        self._seen.check(old.path, before.thing.state())
        must_be_copied(old.path, before.thing.kind)
        content = self._read(source)
        self._write(target, content.data, None, None)
        self._delete(source)
        return Change(path=new.path, kind="moved", moved_from=old.path, sha256=content.sha256)

    def _delete(self, path: str) -> Change:
        place = self._writable(path, follow=False)
        if is_private(place):
            return super()._delete(path)
        self._mounts.must_stay(place)
        with self._lock, disk.told(place.path):
            before = self._saved(place)
            self._seen.check(place.path, before.thing.state())
            edits.delete(self._overlay, place, before)
            noted = place.path in self._staged.files
            if not noted and self._overlay.first(place).thing.kind == "missing":
                self._memory.version += 1  # a folder that was only made for what was in it
                return Change(path=place.path, kind="deleted")
            return self._changed(place, before, MISSING)

    def _now(self, place: Place) -> SeenState:
        """Return the state of a place in this view, if the disk is unchanged."""
        if not self._overlay.still(place):
            raise self._seen.stale(place.path)
        return self._overlay.look(place)

    def _read_before(self, place: Place) -> SeenState:
        """Return the state of a place whose content goes: what is not saved must have been read."""
        sight = self._now(place)
        if sight.mark and sight.mark.is_unsaved and place.path not in self._seen.tokens:
            raise self._seen.unread(place.path)
        return sight

    def _saved(self, place: Place) -> SeenState:
        """Return the state of a place that goes from where it is: a program cannot save that."""
        sight = self._now(place)
        if sight.mark and sight.mark.is_unsaved:
            raise WorkspaceError(
                f"{place.path!r} has changes in the editor that are not saved:"
                " it is neither moved nor deleted",
                hint="Save it first, or close it without saving.",
            )
        return sight

    def _changed(self, place: Place, before: SeenState, after: State) -> Change:
        self._memory.version += 1
        return self._staged.changed(place.path, before.thing.state(before.data), after)

    async def run(self, command: Command) -> Process:
        """Start a process; its `Exit` says what files of the workspace it changed.

        Raises:
            WorkspaceError: Changes wait to land, which the process would not see.
        """
        await self._hop(self._settle)
        return await super().run(command)

    def _settle(self) -> None:
        with self._lock:
            if self._keeps_back:
                raise WorkspaceError(
                    "changes of this run have not landed: a process would not see them"
                )
            for memory in self._memories:
                memory.settle()

    def _seen_paths(self) -> Collection[str]:
        with self._lock:
            return {path for memory in self._memories for path in memory.seen_paths()}

    def _acted(self, reals: Collection[str]) -> None:
        with self._lock:
            self._memories[0].forget_sights(reals)

    @property
    def _keeps_back(self) -> bool:
        """Whether there are changes that have not landed, in it or below it."""
        return any(next(memory.overlay.changed(), None) is not None for memory in self._memories)

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """Return what this view has and the disk does not, each path on this machine once."""
        if not self._keeps_back and self._shared.editor is None:
            return ()
        return await self._hop(self._kept_back)

    def _kept_back(self) -> tuple[StagedFile, ...]:
        with self._lock:
            overlay = merging.flattened(self._memories).overlay
            staged = [staged_file(base, node) for base, node in overlay.changed()]
        return (*staged, *self._shown({file.real for file in staged}))

    def _shown(self, without: Collection[str]) -> Iterator[StagedFile]:
        """Yield what the editor shows and has not saved."""
        editor = self._shared.editor
        for real, shown in () if editor is None else editor.unsaved().items():
            if real not in without and shown.data is not None:
                yield shown_file(self._mounts.at(real), shown.data)

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes of this view, landed or not: one entry a path and stage, in order.

        Those of layers over it come last.
        """
        return await self._hop(self._changes) if self._memory.touched else ()

    def _changes(self) -> tuple[Change, ...]:
        with self._lock:
            return self._memory.changes(self.landed + 1)

    async def diff(self) -> str:
        """Return the changes that have not landed as one unified diff, of a bounded size."""
        return await self._hop(self._diff)

    def _diff(self) -> str:
        with self._lock:
            return stage_diff(self._staged.changes(), self._overlay, self._mounts, self._before)

    async def consult(self, process: str = "") -> tuple[Finding, ...]:
        """Ask the person at the editor about changes before they land, and about unsaved text.

        Raises:
            WindowRefused: They refused; nothing landed.
        """
        editor = self._shared.editor
        if editor is None or not self._lands or not (process or self._keeps_back):
            return ()
        wanted = await editor.prepare(await self._hop(self._shown_there), process)
        self._reviewed = set() if wanted else None
        return await self._review()

    async def _review(self) -> tuple[Finding, ...]:
        """Ask a person about each change that they have not seen, and drop those that they refuse.

        They are asked again about what is changed while they look.
        """
        editor, found = self._shared.editor, list[Finding]()
        while editor is not None and self._reviewed is not None and self._keeps_back:
            flat, changes = await self._hop(self._snapshot)
            new = [each for each in changes if each not in self._reviewed]
            if not new:
                break
            dropped = await editor.review([await to_review(each, flat) for each in new])
            out = [each.change for each in new if each.change.path in dropped]
            await self._hop(self._take_back, out)
            self._reviewed.update(each for each in new if each.change.path not in dropped)
            found += [dropped_by_person(change, dropped[change.path]) for change in out]
        return tuple(found)

    def _snapshot(self) -> tuple["StagedView", list[Reviewed]]:
        """Return what is to land as it is now, and a view that keeps it so."""
        with self._lock:
            flat = merging.flattened(self._memories).copy()
            found = {base.place.path: (base, node) for base, node in flat.overlay.changed()}
            waiting = flat.waiting(self.landed + 1)

        def seen(change: Change) -> Reviewed:
            state = found[change.path][1].thing if change.path in found else None
            was = found.get(change.moved_from or change.path)
            before = None if was is None else was[0].sight.thing
            mode = state.mode if state is not None and state.kind == "file" else None
            stays = before is not None and before.kind == "file" and before.mode == mode
            return Reviewed(change, state, None if stays else mode)

        return self._with((flat,)), [seen(change) for change in waiting]

    def _to_land(self) -> tuple[Change, ...]:
        with self._lock:
            return merging.flattened(self._memories).waiting(self.landed + 1)

    def _take_back(self, changes: Sequence[Change]) -> None:
        """Forget changes, in this view and in those below it."""
        paths = [path for change in changes for path in (change.path, change.moved_from) if path]
        with self._lock:
            for memory in self._memories:
                memory.take_back(paths)
            left = {change.path for change in self._to_land()}.intersection(paths)
        if left:
            named = ", ".join(map(repr, sorted(left)))
            raise WorkspaceError(
                f"changes cannot be dropped by themselves: {named}; nothing landed"
            )

    def _shown_there(self) -> tuple[str, ...]:
        """Return the paths of what has not landed and an editor shows."""
        with self._lock:
            changed = merging.flattened(self._memories).overlay.changed()
            return tuple(base.place.path for base, _ in changed if base.place.root.editor)

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Write the changes to the disk, all or none; without changes no guard is asked.

        Returns:
            The guards' findings, none of them an error.

        Raises:
            Guarded: A guard found an error; the error has all findings, nothing landed.
            StaleFile: Another program changed a file since it was read; nothing landed.
            WorkspaceError: The changes cannot land; nothing landed.
        """
        if not self._lands:
            raise ConfigError("a copy of a view never lands")
        if not self._keeps_back:
            return ()
        async with self._landing:
            if any(memory.through.seen.reported for memory in self._memories):
                await self._hop(self._must_not_be_stale)  # before guards read them
            told: tuple[Finding, ...] = ()
            while self._keeps_back:
                told += await self._review()
                version = self._version
                findings = await self._look_at_all(guards)
                landed = await self._hop(self._land, version)
                if landed is not None:
                    return (*told, *findings, *landed)
        return told

    def _must_not_be_stale(self) -> None:
        with self._lock:
            for memory in self._memories:
                checks.must_not_be_stale(memory, self._mounts)

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about what has not landed, and raise `Guarded` where one finds an error."""
        waiting = self._memory.waiting(self.landed + 1) if guards else ()
        return await guarded(guards, waiting, self, secrets=self._secrets)

    async def _look_at_all(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about what this view and those below it have not landed."""
        flat = await self._hop(self._flat) if guards and len(self._memories) > 1 else self
        return await flat.look(guards)

    def _flat(self) -> "StagedView":
        """Return a view that holds the changes of those below as its own."""
        with self._lock:
            return self._with((merging.flattened(self._memories),))

    def _land(self, version: int) -> tuple[Finding, ...] | None:
        """Land, unless a change was made since the guards were asked: then return None."""
        journals = self._shared.journals
        if journals is None:
            raise ConfigError("a folder without a journal cannot keep changes back")
        with self._lock:
            if version != self._version:
                return None
            for memory in self._memories[1:]:
                if paths := merging.stale(memory):
                    raise self._told_of(paths, merging.stale_below(paths))
            lowest, flat = self._memories[0], merging.flattened(self._memories)
            changes = tuple(flat.overlay.changed())
            stage = lowest.stages + 1
            landing = Landing(
                run_id=self._run_id,
                stage=stage,
                changes=changes,
                read=tuple(flat.sights.values()),
            )
            try:
                with self._shared.lock:
                    saved = land(journals, landing, self._shared.editor)
            except StaleFile as error:
                raise self._told_of(error.paths, error) from None
            done = [saved.now(change) for change in flat.waiting(stage)]
            versions = {**flat.staged.versions(), **saved.formatted}
            lowest.done += [replace(change, undoable=bool(self._run_id)) for change in done]
            lowest.stages = stage
            for memory in self._memories:
                memory.through.seen.tokens.update(versions)
                memory.clear()
            lowest.forget_sights({base.place.real for base, _ in changes})
        return saved.findings

    def _told_of(self, paths: Collection[str], error: StaleFile) -> StaleFile:
        for path in paths:
            self._seen.stale(path)
        return error

    async def discard(self) -> None:
        """End the view: drop the changes that have not landed, and its `@state`.

        A layer leaves `@state` to the view that it is laid over.
        """
        if self._name:
            self.drop()
        elif self._memory.touched or self._state.made:
            await self._hop(self._discard)

    def _discard(self) -> None:
        with self._lock:
            self._memory.drop()
        self._state.close()

    async def fork(self) -> "StagedView":
        """Return a copy of the view whose changes never land."""
        return await self._hop(self._fork)

    def _fork(self) -> "StagedView":
        other = StagedView(
            self._plain, self._shared, self._run_id, lands=False, secrets=self._secrets
        )
        with self._lock:
            other._memories = (*self._memories[:-1], self._memory.copy())
        self._state.copy_to(other._state)
        return other

    async def pack(self) -> bytes:
        """Return the state of the view (changes not landed, versions read), to go on elsewhere.

        The contents of `@state` are included.

        Raises:
            TooLarge: It is too large to keep.
        """
        return await self._hop(self._pack)

    def _pack(self) -> bytes:
        with self._lock:
            return self._memory.pack(self._state.path if self._state.made else None)

    def unpack(self, packed: bytes) -> None:
        """Take over the state of another view; this one is new.

        Raises:
            StateError: It is no packed view, or one of another version or folder.
        """

        def folder() -> Path:
            self._state.make()
            return self._state.path

        self._memories = (Memory.unpack(packed, roots=self._plain.roots, folder=folder),)
