"""Landing of changes in a workspace that is only known by its methods: one after the other.

Order: look at everything, then write, move, delete. Where one step fails, those before it are taken
back, as far as the files were not changed since; what could not be taken back is named. Not
covered: a process that dies meanwhile leaves a part of the changes made.
"""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from msgspec import field

from lineshaft.errors import LineshaftError, StaleFile, WorkspaceError
from lineshaft.values import Finding, Stage, Struct
from lineshaft.workspace._contents import Contents, Held, bytes_of
from lineshaft.workspace.anywhere.draft import Drafted, above_of, parts_of
from lineshaft.workspace.anywhere.looking import look, sha256_of
from lineshaft.workspace.disk import FileState
from lineshaft.workspace.staging import stale_files

NOT_ATOMIC = Finding(
    code="not-atomic",
    level="info",
    message=(
        "the changes were written one after the other: this workspace does not land them whole"
        " where the process dies meanwhile, and no undo takes them back"
    ),
)


class _FarStep(Struct, frozen=True):
    path: str
    before: FileState
    after: Drafted


Back = Callable[[], Awaitable[object]]


class _Progress(Struct):
    view: Stage
    held: dict[str, Held] = field(default_factory=dict[str, Held])
    """Contents before, of files that are to change."""

    contents: Contents = field(default_factory=Contents)
    away: set[str] = field(default_factory=set[str])
    """Paths whose file was moved or deleted by now."""

    done: list[tuple[str, Back]] = field(default_factory=list[tuple[str, Back]])
    """Paths that were changed, and what takes each change back."""

    async def make_folder(self, path: str, mode: int | None) -> None:
        change = await self.view.make_folder(path, mode=mode)
        if change.kind == "created":
            self.done.append((path, partial(_suppressed, partial(self.view.delete, path))))

    async def write(self, path: str, data: bytes, mode: int | None, *, over: Held | None) -> None:
        before = None if over is None else bytes_of(over)
        match = None if before is None else sha256_of(before)
        change = await self.view.write(path, data, if_match=match, mode=mode)
        back = partial(self.view.delete, path)
        if before is not None:
            back = partial(self.view.write, path, before, if_match=change.sha256)
        self.done.append((path, back))

    async def move(self, source: str, target: str) -> None:
        await self.view.move(source, target)
        self.away.add(source)
        self.done.append((target, partial(self.view.move, target, source)))

    async def delete(self, path: str, kind: str) -> None:
        await self.view.delete(path)
        self.away.add(path)
        held = self.held.get(path)
        back: Back = partial(self.view.make_folder, path)
        if kind == "file":
            back = partial(self.view.write, path, b"" if held is None else bytes_of(held))
        self.done.append((path, back))


async def land(
    view: Stage,
    changes: Sequence[tuple[str, FileState, Drafted]],
    sights: Mapping[str, FileState],
) -> None:
    """Land changes.

    Args:
        view: A new view of the workspace, whose changes are made at once.
        changes: Paths, the first state of each, the new one.
        sights: Files that the changes build on.

    Raises:
        StaleFile: Files were changed from outside; nothing landed.
        WorkspaceError: A step failed; what was done before it was taken back, or is named.
    """
    progress = _Progress(view)
    steps = [_FarStep(*change) for change in changes]
    try:
        await _check(progress, steps, sights)
        for step in _in_order(steps):
            await _make(progress, step, {each.path: each for each in steps})
    except (Exception, CancelledError) as error:  # whatever it raises, what was done is taken back
        if isinstance(error, StaleFile) and error.paths:
            raise  # of the check: nothing was done, and it says so
        said, hint = repr(error), ""
        if isinstance(error, LineshaftError):
            said, hint = error.message, error.hint
        left = await _take_back(progress)
        if left:
            named = ", ".join(repr(path) for path in left)
            raise WorkspaceError(
                f"the changes landed in part: {said}; not taken back: {named}",
                hint="Look at these files.",
            ) from error
        kind = StaleFile if isinstance(error, StaleFile) else WorkspaceError
        raise kind(f"{said}; nothing landed", hint=hint) from error


async def _check(
    progress: _Progress, steps: Sequence[_FarStep], sights: Mapping[str, FileState]
) -> None:
    bases = {step.path: step.before for step in steps}
    changing = {step.path: step.after.thing for step in steps}
    stale: list[str] = []
    for path in dict.fromkeys((*sights, *bases)):
        now = await look(progress.view, path, noted=True)
        after = changing.get(path)
        if now.thing.kind == "folder" and after is not None and after.kind == "folder":
            continue  # the same folder was made from outside
        if not all(now.thing.like(state[path]) for state in (sights, bases) if path in state):
            stale.append(path)
        elif after is not None and now.data is not None:
            progress.held[path] = progress.contents.put(now.data)
    for step in steps:
        if step.before.kind == "folder" and step.after.thing.kind != "folder":
            inner = progress.view.walk(step.path, ignore=False, depth=1)
            stale += [each.path async for each in inner if each.path not in changing]
    if stale:
        raise stale_files(tuple(dict.fromkeys(stale)))


def _in_order(steps: Sequence[_FarStep]) -> list[_FarStep]:
    """Return first what has a free place, then what goes, then what needs the place of that."""
    goes = [step for step in steps if step.after.thing.kind == "missing"]
    going = {step.path for step in goes}
    comes = sorted(
        (step for step in steps if step.after.thing.kind != "missing"),
        key=lambda step: (step.after.thing.kind != "folder", parts_of(step.path)),
    )
    replaced = {
        step.path for step in comes if step.before.kind not in ("missing", step.after.thing.kind)
    }
    later = [
        step
        for step in comes
        if step.path in replaced
        or any(above in replaced or above in going for above in above_of(step.path))
    ]
    first = [step for step in comes if step not in later]
    last = sorted(goes, key=lambda step: len(parts_of(step.path)), reverse=True)
    return [*first, *last, *later]


async def _make(progress: _Progress, step: _FarStep, steps: Mapping[str, _FarStep]) -> None:
    path, before, thing = step.path, step.before, step.after.thing
    if thing.kind == "missing":
        if path not in progress.away:
            await progress.delete(path, before.kind)
        return
    if before.kind not in ("missing", thing.kind):
        await progress.delete(path, before.kind)
    if thing.kind == "folder":
        await progress.make_folder(path, thing.mode)
        return
    over = progress.held.get(path) if before.kind == "file" else None
    came = steps.get(step.after.came or "")
    if came is not None and _may_move(progress, step, came):
        await progress.move(came.path, path)  # it keeps its mode
        if thing.like(came.before) and thing.mode is None:
            return
        over = progress.held.get(came.path)
    data = b"" if step.after.held is None else bytes_of(step.after.held)
    await progress.write(path, data, thing.mode, over=over)


def _may_move(progress: _Progress, step: _FarStep, came: _FarStep) -> bool:
    goes = came.after.thing.kind == "missing" and came.before.kind == "file"
    return goes and step.before.kind == "missing" and came.path not in progress.away


async def _take_back(progress: _Progress) -> list[str]:
    """Take back what was done, the last first, and return the paths where that failed."""
    left: list[str] = []
    for path, back in reversed(progress.done):
        try:
            await back()
        except Exception:  # noqa: BLE001  the others are taken back
            left.append(path)
    return left


async def _suppressed(act: Back) -> None:
    with suppress(WorkspaceError):  # others may have put something in it
        await act()
