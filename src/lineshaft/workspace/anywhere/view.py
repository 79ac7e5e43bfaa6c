"""One run's view of any workspace, whose changes stay in the view until they land.

It is to `values.Workspace` what `staging/view.py` is to a folder of this machine, and neither knows
the other. `@state`, where the workspace has one, is the run's own: writes there are made at once.
Not made here: symlinks, and changes of them.
"""

import asyncio
import copy
import errno
import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import cast

import anyio
from anyio.lowlevel import checkpoint

from lineshaft.errors import (
    ConfigError,
    FileMissing,
    OutsideWorkspace,
    StaleFile,
    StateError,
    WorkspaceError,
)
from lineshaft.tasks import wait_until_done
from lineshaft.values import (
    NO_SECRETS,
    ApprovePaths,
    Capability,
    Change,
    Command,
    ConfirmUndo,
    Content,
    Entry,
    Finding,
    Guard,
    Process,
    Resolved,
    SecretFinder,
    Stage,
    StagedFile,
    StagedKind,
    Undone,
    Workspace,
)
from lineshaft.workspace import _contents as contents
from lineshaft.workspace import disk
from lineshaft.workspace._ledger import Seen
from lineshaft.workspace._shared import must_be_copied, must_match, nothing_there
from lineshaft.workspace.anywhere.draft import (
    GONE,
    Draft,
    Drafted,
    above_of,
    entry,
    found,
    parts_of,
)
from lineshaft.workspace.anywhere.landing import NOT_ATOMIC, land
from lineshaft.workspace.anywhere.looking import FarSight, file_state, look, sha256_of, walk
from lineshaft.workspace.disk import MISSING, NOTHING, FileState
from lineshaft.workspace.guards import guarded
from lineshaft.workspace.staging import (
    DiffEntry,
    Packing,
    stale_below,
    stale_files,
    unified,
    unpacked,
)

_PRIVATE = "state"
_NO_STAGE = "a view begins, recovers and undoes nothing: ask the workspace"


class ViewAnywhere(Stage):
    """One run's view: it sees its own changes, the workspace does not before they land.

    Args:
        workspace: The workspace; its own views make each change at once.
        run_id: Whose changes they are.
        lands: Whether its changes may land.
        secrets: What is not cut in two where the output of commands is.
    """

    def __init__(
        self,
        workspace: Workspace,
        run_id: str,
        *,
        lands: bool = True,
        secrets: SecretFinder = NO_SECRETS,
    ) -> None:
        self._workspace, self._run_id, self._lands = workspace, run_id, lands
        self._secrets = secrets
        self._direct = workspace.begin(run_id, secrets=secrets)
        """A view whose changes are made at once: for reads, commands and `@state`."""

        self._drafts: tuple[Draft, ...] = (Draft(),)
        """Its own, after those that it is laid over, the lowest first."""

        self._name = ""
        self._private: dict[str, bytes] = {}
        """Files of `@state` that an earlier process had, to be written once it is used."""

        self._restoring = anyio.Lock()
        self._lock = anyio.Lock()
        self._landing = anyio.Lock()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Those of the workspace; changes are kept back, not landed whole across a crash."""
        return capabilities_over(self._workspace)

    @property
    def _own(self) -> Draft:
        return self._drafts[-1]

    @property
    def _seen(self) -> Seen:
        return self._own.staged.seen

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        return self._drafts[0].stages

    @property
    def _version(self) -> int:
        return sum(draft.version for draft in self._drafts)

    @property
    def _keeps_back(self) -> bool:
        return any(next(draft.changed(), None) is not None for draft in self._drafts)

    # Looking.

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Decide where a path leads, by the workspace: no symlink is staged."""
        return await self._direct.resolve(path, follow=follow)

    async def _at(self, path: str, *, follow: bool = True) -> tuple[str, bool]:
        """Return a canonical path, and whether it is the run's own."""
        await checkpoint()
        place = await self.resolve(path, follow=follow)
        private = place.alias == _PRIVATE
        if private and self._private:
            async with self._restoring:
                while self._private:
                    name, data = next(iter(self._private.items()))
                    await self._direct.write(name, data)
                    del self._private[name]
        return place.path, private

    async def _writable(self, path: str, *, follow: bool = True) -> tuple[str, bool]:
        place = await self.resolve(path, follow=follow)
        if not place.writable:
            raise OutsideWorkspace(f"{place.path!r} is mounted read-only")
        return await self._at(place.path, follow=follow)

    async def _look(self, path: str, *, below: bool = False) -> FarSight:
        """Return the state of a place in this view, or in what lies below it."""
        node = found(self._drafts[:-1] if below else self._drafts, path)
        if node is not None:
            return FarSight(node.thing, node.held)
        return await look(self._direct, path)

    async def stat(self, path: str) -> Entry:
        """Return what is at a path, or raise `FileMissing`."""
        at, private = await self._at(path, follow=False)
        node = None if private else found(self._drafts, at)
        if node is None:
            try:
                return await self._direct.stat(at)
            except FileMissing:
                if not private:
                    self._saw(at, NOTHING)
                raise
        if node.thing.kind == "missing":
            raise disk.missing(at)
        return entry(at, node.thing)

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """Return a file's bytes, and remember the version read for `E_STALE`."""
        at, private = await self._at(path)
        if private:
            return await self._direct.read(at, noted=noted)
        if noted and at in self._seen.reported:
            self._own.forget(at)
        node = found(self._drafts, at)
        if node is not None:
            if node.thing.kind == "missing":
                raise self._absent(at)
            disk.must_be_file(at, node.thing.kind)
            if noted and self._own.own(at) is None:
                self._seen.saw(at, node.thing.sha256)
            data = b"" if node.held is None else contents.bytes_of(node.held)
            return Content(data=data, sha256=node.thing.sha256 or "")
        try:
            content = await self._direct.read(at, noted=False)
        except FileMissing:
            if noted:
                self._saw(at, NOTHING)
            raise
        if noted:
            self._saw(at, file_state(content))
        return content

    def _absent(self, path: str) -> WorkspaceError:
        states = (found(self._drafts, above) for above in above_of(path))
        through_file = any(state is not None and state.thing.kind == "file" for state in states)
        return disk.not_a_folder(path) if through_file else disk.missing(path)

    def _saw(self, path: str, thing: FileState) -> None:
        if path in self._seen.reported:
            self._own.sights[path] = thing
        self._own.sights.setdefault(path, thing)
        self._seen.saw(path, thing.sha256)

    async def before(self, path: str) -> Content | None:
        """Return a file's content before the changes that have not landed; None: there was no file.

        It does not count as read.
        """
        at, _ = await self._at(path, follow=False)
        base = self._own.bases.get(at)
        if base is None:
            at, _ = await self._at(path)
        elif base.kind != "file":
            return None
        sight = await self._look(at, below=True)
        if base is not None and not sight.thing.like(base):
            raise self._seen.stale(at, "deleted" if sight.thing.kind == "missing" else "changed")
        if sight.thing.kind != "file":
            return None
        return Content(data=sight.data or b"", sha256=sight.thing.sha256 or "")

    async def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """Return all entries below a folder, sorted, symlinked folders not entered."""
        at, private = await self._at(root)
        drafts = () if private else self._drafts
        async for each in walk(self._direct, drafts, at, ignore=ignore, depth=depth):
            yield each

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """Return what this view has and the workspace does not, each path once."""
        flat = await self._flattened()
        shown: list[StagedFile] = []
        for path, base, node in flat.changed():
            was = await look(self._direct, path)
            if not was.thing.like(base):
                raise self._seen.stale(path)
            shown.append(_staged_file(await self.resolve(path, follow=False), node, was))
        return tuple(shown)

    # Changing.

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """Stage a file's whole content; arguments and errors are those of `Workspace.write`."""
        at, private = await self._writable(path)
        if private:
            return await self._direct.write(at, data, if_match=if_match, mode=mode)
        async with self._lock:
            before = await self._now(at)
            must_match(at, before.thing.state(), if_match)
            self._seen.check(at, before.thing.state())
            if before.thing.kind != "missing":
                disk.must_be_file(at, before.thing.kind)
            kept = before.thing.mode if mode is None else mode
            after = FileState("file", sha256_of(data), len(data), kept)
            if after != before.thing:
                await self._make_way(at)
                node = self._own.nodes.get(at)
                came = None if node is None else node.came
                await self._put(at, Drafted(after, self._own.contents.put(data), came))
            return self._changed(at, before, after, data)

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """Stage a folder; arguments and errors are those of `Workspace.make_folder`."""
        at, private = await self._writable(path)
        if private:
            return await self._direct.make_folder(at, mode=mode)
        async with self._lock:
            before = await self._now(at)
            there = before.thing.kind == "folder"
            with nothing_there(at):
                if before.thing.kind not in ("missing", "folder"):
                    raise FileExistsError(at)
            after = FileState("folder", mode=before.thing.mode if mode is None else mode)
            noted = at in self._own.staged.files
            first = before if noted else await self._first(at)
            if not there or after != before.thing:
                await self._make_way(at)
                await self._put(at, Drafted(after))
            self._changed(at, first, after, None)
            return Change(path=at, kind="modified" if there else "created")

    async def link(self, path: str, target: str) -> Change:
        """Refuse: no symlink is kept back here.

        Raises:
            WorkspaceError: Always, except in `@state`.
        """
        at, private = await self._writable(path, follow=False)
        if private:
            return await self._direct.link(at, target)
        raise WorkspaceError(
            f"{at!r} cannot be made a symlink: this workspace keeps none back until it lands",
            hint="Write a file, or make the symlink by a command.",
        )

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """Stage a move; arguments and errors are those of `Workspace.move`."""
        old, private = await self._writable(source, follow=False)
        new, into_private = await self._writable(target, follow=False)
        if private and into_private:
            return await self._direct.move(old, new, approve=approve)
        if private or into_private:
            return await self._copy_over(old, new, noted=into_private)
        async with self._lock:
            before = await self._plain(old)
            self._seen.check(old, before.thing.state())
            if not parts_of(old):
                raise WorkspaceError(f"{old!r} is a mounted folder: it is not moved")
            if new == old or new.startswith(f"{old}/"):
                raise WorkspaceError(f"{old!r} cannot be moved into itself")
            inner = await self._inner(old) if before.thing.kind == "folder" else []
            await self._must_be_one_mount(old, inner)
            if approve is not None:
                approve([name for path in inner for name in (path, f"{new}{path[len(old) :]}")])
            with nothing_there(new):
                if (await self._look(new)).thing.kind != "missing":
                    raise FileExistsError(new)
            sights = [(path, await self._plain(path)) for path in (old, *inner)]
            await self._make_way(new)
            for path, sight in sights:
                await self._moved(path, f"{new}{path[len(old) :]}", sight)
            for path, sight in sights:
                known = path in self._seen.tokens
                if sight.thing.kind != "folder" or len(sights) == 1 or known:
                    moved = sight.thing.state(sight.data)
                    self._own.staged.moved(path, f"{new}{path[len(old) :]}", moved)
        sha256 = before.thing.sha256
        return Change(path=new, kind="moved", moved_from=old, sha256=sha256)

    async def _inner(self, folder: str) -> list[str]:
        found: list[str] = []
        async for each in walk(self._direct, self._drafts, folder, ignore=False, depth=None):
            if each.closed:
                raise WorkspaceError(f"{each.path!r} cannot be looked into: it is not moved")
            found.append(each.path)
        return found

    async def _must_be_one_mount(self, folder: str, inner: Sequence[str]) -> None:
        """Refuse to move a folder with another one mounted in it, of other rules or another name.

        Raises:
            OutsideWorkspace: There is one.
        """
        for path in inner:
            place = await self.resolve(path, follow=False)
            if not place.writable or not place.path.startswith(f"{folder}/"):
                raise OutsideWorkspace(
                    f"{path!r} is in a folder that is mounted in {folder!r}: that is not moved",
                    hint="Move what is in it one by one.",
                )

    async def _moved(self, old: str, new: str, sight: FarSight) -> None:
        node = self._own.nodes.get(old)
        came = old if node is None or node.came is None else node.came
        if self._own.bases.get(old, sight.thing).kind == "missing" and came == old:
            came = None  # it was only made here
        file = sight.thing.kind == "file"
        held = self._own.contents.put(sight.data or b"") if file else None
        await self._put(new, Drafted(sight.thing, held, came if file else None))
        await self._put(old, GONE)

    async def _copy_over(self, old: str, new: str, *, noted: bool) -> Change:
        """Move a file out of `@state` or into it; where it is noted, it counts as read."""
        with nothing_there(new):
            try:
                await self.stat(new)
            except FileMissing:
                pass
            else:
                raise FileExistsError(new)
        sight = await self._now(old)
        thing = sight.thing
        self._seen.check(old, thing.state())
        must_be_copied(old, thing.kind)
        if noted:
            self._seen.saw(old, thing.sha256)
        await self.write(new, sight.data or b"")
        await self.delete(old)
        return Change(path=new, kind="moved", moved_from=old, sha256=thing.sha256)

    async def delete(self, path: str) -> Change:
        """Stage the deletion of a file or an empty folder."""
        at, private = await self._writable(path, follow=False)
        if private:
            return await self._direct.delete(at)
        async with self._lock:
            before = await self._plain(at)
            self._seen.check(at, before.thing.state())
            if before.thing.kind == "folder":
                if not parts_of(at):
                    raise WorkspaceError(f"{at!r} is a mounted folder: it is not deleted")
                if await self._inner(at):
                    with disk.told(at):
                        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
            await self._put(at, GONE)
            noted = at in self._own.staged.files
            if not noted and self._own.bases[at].kind == "missing":
                return Change(path=at, kind="deleted")  # only made for what was in it
            return self._changed(at, before, NOTHING, None)

    async def _first(self, path: str) -> FarSight:
        """Return the state of a place below, as this view first saw it."""
        base = self._own.bases.get(path)
        return await self._look(path, below=True) if base is None else FarSight(base)

    async def _now(self, path: str) -> FarSight:
        """Return the state of a place in this view, if it is below as this view first saw it."""
        base = self._own.bases.get(path)
        if base is not None and not (await self._look(path, below=True)).thing.like(base):
            raise self._seen.stale(path)
        return await self._look(path)

    async def _plain(self, path: str) -> FarSight:
        """Return the state of a file or folder that goes from where it is."""
        sight = await self._now(path)
        if sight.thing.kind == "missing":
            self._seen.check(path, sight.thing.state())
            raise disk.missing(path)
        if sight.thing.kind == "symlink":
            raise WorkspaceError(
                f"{path!r} is a symlink: this workspace keeps no change of one back",
                hint="Change it by a command.",
            )
        if sight.thing.kind == "other":
            raise WorkspaceError(
                f"{path!r} is not a regular file: pipes and devices are not moved or deleted"
            )
        return sight

    async def _make_way(self, path: str) -> None:
        """Stage the folders on the way to a place that are not there."""
        made: list[str] = []
        for above in above_of(path):
            thing = (await self._look(above)).thing
            if thing.kind == "missing":
                made.append(above)
                continue
            if thing.kind != "folder":
                raise disk.not_a_folder(path)
            break
        for above in reversed(made):
            await self._put(above, Drafted(FileState("folder")))

    async def _put(self, path: str, node: Drafted) -> None:
        below = self._own.bases.get(path)
        if below is None:
            below = (await self._look(path, below=True)).thing
            gone = (above for above in above_of(path) if above in self._own.bases)
            if any(self._own.bases[above].kind != "folder" for above in gone):
                below = NOTHING
        self._own.put(path, node, below)

    def _changed(self, path: str, before: FarSight, after: FileState, data: bytes | None) -> Change:
        self._own.version += 1
        state = MISSING if after.kind == "missing" else after.state(data)
        return self._own.staged.changed(path, before.thing.state(before.data), state)

    async def run(self, command: Command) -> Process:
        """Start a process.

        Raises:
            WorkspaceError: Changes wait to land, which the process would not see; or the workspace
                runs none.
        """
        if self._keeps_back:
            raise WorkspaceError(
                "changes of this run have not landed: a process would not see them"
            )
        if "run" not in self.capabilities:
            raise WorkspaceError("this workspace runs no commands")
        return await self._direct.run(command)

    # The whole of the changes.

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes of this view, landed or not; those of layers over it come last."""
        stage = self.landed + 1
        through = () if self._name else await self._direct.changes()
        return (*self._own.done, *through, *self._own.all_waiting(stage))

    @property
    def touched(self) -> bool:
        """Whether anything was ever changed through this view."""
        return self._own.touched or (not self._name and self._direct.touched)

    async def diff(self) -> str:
        """Return the changes that have not landed as one unified diff, of a bounded size."""
        entries: list[DiffEntry] = []
        for change in self._own.staged.changes():
            source = change.moved_from or change.path
            node = self._own.nodes.get(change.path, GONE)
            before = self._own.bases.get(source, NOTHING)
            old = None if before.same(node.thing) else await self.before(source)
            entries.append(
                DiffEntry(
                    change=change,
                    before=before,
                    after=node.thing,
                    old=partial(bytes, b"" if old is None else old.data),
                    new=partial(_content, node),
                )
            )
        return unified(entries)

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about what has not landed, and raise `Guarded` where one finds an error."""
        waiting = self._own.waiting(self.landed + 1) if guards else ()
        return await guarded(guards, waiting, self, secrets=self._secrets)

    async def consult(self, process: str = "") -> tuple[Finding, ...]:
        """Return an empty list: no editor that could be asked shows the workspace."""
        del process
        return ()

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Write the changes to the workspace, one after the other, all or none.

        Returns:
            The guards' findings, none of them an error, and one that says what is lacking.

        Raises:
            Guarded: A guard found an error; the error has all findings, nothing landed.
            StaleFile: Another program changed a file since it was read; nothing landed.
            WorkspaceError: The changes cannot land; it says whether anything did.
        """
        if not self._lands:
            raise ConfigError("a copy of a view never lands")
        async with self._landing:
            for count in range(len(self._drafts) if self._keeps_back else 0):
                upper = self._over(self._drafts[: count + 1])
                await upper._must_not_be_stale()  # noqa: SLF001  of its own class
            while self._keeps_back:
                version = self._version
                flat = await self._flattened()
                findings = await self._over((flat,)).look(guards)
                async with self._lock:
                    if version != self._version:
                        continue
                    landing = asyncio.ensure_future(self._land(flat))
                    try:
                        await wait_until_done((landing,))  # half of it is worse than a wait
                    except asyncio.CancelledError:
                        landing.exception()  # it was taken back, or the view says what is left
                        raise
                    landing.result()
                    return (*findings, NOT_ATOMIC)
        return ()

    async def _flattened(self) -> Draft:
        """Return the changes of this view and of those below it as one.

        Raises:
            StaleFile: They contradict each other.
        """
        flat = self._drafts[0]
        for layer in self._drafts[1:]:
            over = self._over((flat, layer))
            paths, made = await over._contradicting()  # noqa: SLF001  of its own class
            if paths:
                raise self._told_of(paths, stale_below(paths))
            flat = flat.copy()
            flat.absorb(layer, made)
        return flat

    async def _land(self, flat: Draft) -> None:
        lowest, changes = self._drafts[0], tuple(flat.changed())
        view = self._workspace.begin(self._run_id, secrets=self._secrets)
        try:
            await land(view, changes, flat.sights)
        except StaleFile as error:
            raise self._told_of(error.paths, error) from None
        finally:
            with suppress(Exception):  # it is of no use any more
                await view.discard()
        lowest.stages += 1
        lowest.done += flat.waiting(lowest.stages)
        versions = flat.staged.versions()
        for draft in self._drafts:
            draft.staged.seen.tokens.update(versions)
            draft.clear()
        lowest.forget_sights({path for path, _, _ in changes})

    async def _must_not_be_stale(self) -> None:
        """Refuse to go on over files that the run was told of and has not read again.

        A file that is back in its old state is no longer stale.

        Raises:
            StaleFile: It names them.
        """
        stale: list[str] = []
        for path in sorted(self._seen.reported):
            before = self._own.bases.get(path, self._own.sights.get(path))
            if before is None:
                continue
            if (await self._look(path, below=True)).thing.like(before):
                self._seen.reported.discard(path)
            else:
                stale.append(path)
        if stale:
            raise stale_files(stale)

    def _told_of(self, paths: Collection[str], error: StaleFile) -> StaleFile:
        for path in paths:
            self._seen.stale(path)
        return error

    async def discard(self) -> None:
        """End the view: drop the changes that have not landed."""
        if self._name:
            self.drop()
            return
        self._own.drop()
        await self._direct.discard()

    # Layers and copies.

    def layer(self, name: str) -> "ViewAnywhere":
        """Return a view over this one, whose changes stay in it until `merge`."""
        below = self._own.layers.setdefault(name, Draft())
        return self._over((*self._drafts, below), name)

    def _over(self, drafts: tuple[Draft, ...], name: str = "") -> "ViewAnywhere":
        other = copy.copy(self)
        other._become(drafts, name or self._name)  # noqa: SLF001  of its own class
        return other

    def _become(self, drafts: tuple[Draft, ...], name: str) -> None:
        self._drafts, self._name = drafts, name

    async def merge(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Make the changes of this layer those of the view below, all or none."""
        if not self._name:
            raise ConfigError("this view is no layer")
        while True:
            version = self._version
            findings = await self.look(guards)
            async with self._lock:
                paths, made = await self._contradicting()
                if version != self._version:
                    continue
                if paths:
                    raise self._told_of(paths, stale_below(paths))
                await self._must_not_be_stale()
                self._drafts[-2].absorb(self._own, made)
                self._own.clear()
                return findings

    async def _contradicting(self) -> tuple[list[str], set[str]]:
        """Return the paths that are others below by now, and those that are as they are to be."""
        paths: list[str] = []
        made: set[str] = set()
        for path, base, node in self._own.changed():
            below = (await self._look(path, below=True)).thing
            if not below.like(base):
                if below.same(node.thing):
                    made.add(path)
                else:
                    paths.append(path)
            elif base.kind == "folder" and node.thing.kind != "folder":
                drafts = self._drafts[:-1]
                inner = walk(self._direct, drafts, path, ignore=False, depth=1)
                paths += [each.path async for each in inner if each.path not in self._own.nodes]
            elif node.thing.kind != "missing":
                above = next(above_of(path), None)
                if above is not None and (await self._look(above)).thing.kind != "folder":
                    paths.append(path)
        return list(dict.fromkeys(paths)), made

    def drop(self) -> None:
        """End a layer: its changes that were not merged are dropped."""
        if not self._name:
            raise ConfigError("this view is no layer")
        if self._drafts[-2].layers.pop(self._name, None) is not None:
            self._drafts[0].abandoned += self._own.all_waiting(self.landed + 1)

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """The changes of layers that were dropped, in order."""
        return tuple(self._drafts[0].abandoned)

    async def fork(self) -> "ViewAnywhere":
        """Return a copy of the view whose changes never land; its own `@state` is empty."""
        other = ViewAnywhere(self._workspace, self._run_id, lands=False, secrets=self._secrets)
        other._drafts = (*self._drafts[:-1], self._own.copy())
        return other

    async def pack(self) -> bytes:
        """Return the state of the view, to go on elsewhere; `@state` is included.

        Raises:
            TooLarge: It is too large to keep.
        """
        packing = Packing()
        facts = self._own.facts(packing)
        facts["private"] = {
            path: packing.put(data) for path, data in (await self._private_files()).items()
        }
        return packing.packed({"anywhere": facts})

    async def _private_files(self) -> dict[str, bytes]:
        files = dict(self._private)
        try:
            async for each in self._direct.walk(f"@{_PRIVATE}", ignore=False):
                if each.kind == "file" and not each.symlink:
                    files[each.path] = (await self._direct.read(each.path, noted=False)).data
        except WorkspaceError:
            return files  # it has none
        return files

    def unpack(self, packed: bytes) -> None:
        """Take over the state of another view; this one is new.

        Raises:
            StateError: It is no packed view, or one of another version or kind of workspace.
        """
        facts, content = unpacked(packed)
        if not isinstance(facts.get("anywhere"), dict):
            raise StateError("the changes that waited are those of a folder on the disk")
        kept = cast("dict[str, object]", facts["anywhere"])
        private = cast("dict[str, int]", kept.pop("private", {}))
        self._private = {path: content(number) for path, number in private.items()}
        self._drafts = (Draft.of(kept, content),)

    # The workspace's own.

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> Stage:
        """Refuse: a view is of one run."""
        raise ConfigError(_NO_STAGE)

    async def recover(self) -> tuple[Finding, ...]:
        """Refuse: that is the workspace's."""
        raise ConfigError(_NO_STAGE)

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refuse: that is the workspace's."""
        raise ConfigError(_NO_STAGE)


def capabilities_over(workspace: Workspace) -> frozenset[Capability]:
    """Return the capabilities of a workspace whose changes are kept back here."""
    kept: frozenset[Capability] = workspace.capabilities - {"atomic", "undo"}
    return kept | frozenset[Capability]({"staged"})


def _content(node: Drafted) -> bytes:
    return b"" if node.held is None else contents.bytes_of(node.held)


def _staged_file(place: Resolved, node: Drafted, was: FarSight) -> StagedFile:
    kinds: dict[str, StagedKind] = {"file": "file", "folder": "folder", "symlink": "symlink"}
    thing = node.thing
    return StagedFile(
        path=place.path,
        real=place.real,
        kind=kinds.get(thing.kind, "missing"),
        sha256=thing.sha256,
        size=thing.size,
        mode=thing.mode,
        parts=lambda: iter(()) if node.held is None else contents.parts_of(node.held),
        was=kinds.get(was.thing.kind, "missing"),
        before=lambda: was.data,
    )
