"""Steps of a journal, each of which can be done again.

Above: landing, taking back, recovery. Below: `disk/access.py`. First all new files are written
    beside their places, since this step can fail for want of room; then they get their names, files
    to delete go, and folders get their modes. Each place is checked once more just before it is
    changed.
"""

import errno
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from msgspec.structs import replace

from lineshaft.errors import StaleFile, WorkspaceError
from lineshaft.values import Struct
from lineshaft.workspace import disk
from lineshaft.workspace.disk import BY_DESCRIPTOR, FILE_FLAGS, At, Folders, Mark, Place, told
from lineshaft.workspace.journal.failpoints import reached
from lineshaft.workspace.journal.storage import Item, Journal

_FROM_ANOTHER = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES)

_CHANGED = "{!r} was changed from outside while changes landed; nothing landed"


class Task(Struct, frozen=True):
    """One item, and the last state seen at its place."""

    item: Item
    mark: Mark | None


class _StepPlan:
    """The tasks in their order."""

    def __init__(self, journal: Journal, tasks: Sequence[Task], *, back: bool) -> None:
        self._id = f"{journal.header.id}{'-back' if back else ''}"
        self.folders = Folders()
        self.tasks = sorted(tasks, key=lambda task: task.item.place.parts)
        # Of all items, whichever are left: a temporary file must be found again.
        self._changing = {item.place.real for item in journal.header.items}

    @cached_property
    def marks(self) -> dict[str, Mark | None]:
        """The last states seen at the places to change, by real path."""
        return {task.item.place.real: task.mark for task in self.tasks}

    @cached_property
    def made(self) -> list[Task]:
        """Files and symlinks to make."""
        return [task for task in self.tasks if _is_made(task)]

    @cached_property
    def removed(self) -> list[Task]:
        """Entries to delete, or to replace by another kind, from the bottom."""
        return [task for task in reversed(self.tasks) if _goes(task.item)]

    @cached_property
    def moded(self) -> list[Task]:
        """Folders that get a mode, from the bottom."""
        return [
            task
            for task in reversed(self.tasks)
            if task.item.after.kind == "folder" and task.item.after.mode is not None
        ]

    @cached_property
    def late(self) -> frozenset[int]:
        """The numbers of tasks that wait for a deletion."""
        in_the_way = {
            task.item.place.real
            for task in self.tasks
            if _goes(task.item) and task.item.after.kind != "missing"
        }
        if not in_the_way:
            return frozenset()
        return frozenset(
            number
            for number, task in enumerate(self.tasks)
            if any(real in in_the_way for real in _way(task.item.place))
        )

    def temporary(self, task: Task) -> Place:
        """Return where a file is written before it gets its name: beside it, if possible."""
        place = task.item.place
        count = len(place.parts) - 1
        for real in reversed(_way(place)[:-1]):
            if real not in self._changing:
                break
            count -= 1
        return self._beside(place, count)

    def nearer(self, task: Task) -> Place:
        """Return where it is written where its folder turns out to be another file system's."""
        return self._beside(task.item.place, len(task.item.place.parts) - 1)

    def _beside(self, place: Place, count: int) -> Place:
        name = hashlib.sha256(f"{self._id}/{place.real}".encode(errors="surrogateescape"))
        parts = (*place.parts[:count], f".lineshaft-{name.hexdigest()[:16]}.tmp")
        return Place(place.root, parts, writable=True)


def _is_made(task: Task) -> bool:
    return task.item.after.kind in ("file", "symlink")


def _way(place: Place) -> list[str]:
    """Return the real paths from below the mount to a place, the place included."""
    reals: list[str] = []
    real = place.root.real
    for part in place.parts:
        real = os.path.join(real, part)  # noqa: PTH118  pathlib is ten times slower
        reals.append(real)
    return reals


def _goes(item: Item) -> bool:
    before, after = item.before.kind, item.after.kind
    if before == "missing":
        return False
    return after == "missing" or (before != after and "folder" in (before, after))


def apply(journal: Journal, tasks: Sequence[Task], *, back: bool = False) -> None:
    """Carry out some tasks of a journal.

    Args:
        journal: Has the contents.
        tasks: The tasks.
        back: Whether to take back the journal's changes.

    Raises:
        StaleFile: A place was changed from outside meanwhile.
        WorkspaceError: A step failed; those before it are done.
        StateError: The journal is damaged.
    """
    plan = _StepPlan(journal, tasks, back=back)
    with plan.folders:
        _carry_out(journal, plan)


def _carry_out(journal: Journal, plan: _StepPlan) -> None:
    for task in plan.made:
        _step(task, lambda task: _write_temporary(journal, plan, task))
    _put(journal, plan, late=False)
    for task in plan.removed:
        _step(task, lambda task: _remove(plan, task))
    if plan.late:
        _put(journal, plan, late=True)
    for task in plan.moded:
        _step(task, _set_mode)


def _put(journal: Journal, plan: _StepPlan, *, late: bool) -> None:
    tasks = [task for number, task in enumerate(plan.tasks) if (number in plan.late) is late]
    for task in tasks:
        if task.item.after.kind == "folder" and task.item.before.kind != "folder":
            _step(task, lambda task: _make_folder(plan, task))
    for task in tasks:
        if _is_made(task):
            _step(task, lambda task: _name(journal, plan, task))


def clean(journal: Journal, *, back: bool = False) -> None:
    """Remove the temporary files that an attempt has left."""
    items = journal.header.items
    tasks = [Task(replace(item, after=item.before), None) for item in items] if back else ()
    plan = _StepPlan(journal, tasks or [Task(item, None) for item in items], back=back)
    with plan.folders:
        for task in plan.made:
            for place in {plan.temporary(task), plan.nearer(task)}:
                with suppress(OSError, WorkspaceError):
                    name, folder = plan.folders.at(place)
                    os.unlink(name, dir_fd=folder)


def _step(task: Task, do: Callable[[Task], None]) -> None:
    path = task.item.place.path
    with told(path):
        try:
            do(task)
        except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
            raise StaleFile(_CHANGED.format(path)) from error


def _expect(task: Task, at: At) -> os.stat_result | None:
    """Return the state of a place, if it is the one seen there last."""
    try:
        found = os.stat(at[0], dir_fd=at[1], follow_symlinks=False)
    except FileNotFoundError:
        found = None
    now = None if found is None else Mark.of(found)
    same = now is task.mark if now is None or task.mark is None else task.mark.same_file(now)
    if not same:
        raise StaleFile(_CHANGED.format(task.item.place.path))
    return found


# Each step. A folder's times change with its contents, so only its kind counts.


def _write_temporary(journal: Journal, plan: _StepPlan, task: Task) -> None:
    _write_at(journal, plan, task, plan.folders.at(plan.temporary(task)))
    reached("temporary-made")


def _write_at(journal: Journal, plan: _StepPlan, task: Task, at: At) -> None:
    item = task.item
    with suppress(FileNotFoundError):
        os.unlink(at[0], dir_fd=at[1])  # of an attempt that was ended
    if item.after.kind == "symlink":
        os.symlink(item.after.target or "", at[0], dir_fd=at[1])
    elif not _link_moved(item, plan, at):
        _write_file(journal, plan, item, at)


def _link_moved(item: Item, plan: _StepPlan, at: At) -> bool:
    """Give a file that was moved one more name, so that it stays the same file.

    Not if another file was put there since: the journal has the content.
    """
    mark = None if item.came is None else plan.marks.get(item.came.real)
    if item.came is None or mark is None or not BY_DESCRIPTOR:
        return False
    try:
        name, folder = plan.folders.at(item.came)
        os.link(name, at[0], src_dir_fd=folder, dst_dir_fd=at[1], follow_symlinks=False)
    except (OSError, WorkspaceError):
        return False
    if mark.same_file(Mark.of(os.stat(at[0], dir_fd=at[1], follow_symlinks=False))):
        return True
    os.unlink(at[0], dir_fd=at[1])
    return False


def _write_file(journal: Journal, plan: _StepPlan, item: Item, at: At) -> None:
    before, after = item.before, item.after
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS
    descriptor = os.open(at[0], flags, 0o666 if after.mode is None else 0o600, dir_fd=at[1])
    with os.fdopen(descriptor, "wb") as file:
        for chunk in journal.parts(after.sha256 or ""):
            file.write(chunk)
        if before.kind == "file":
            _keep_owner(plan.folders.at(item.place), descriptor)
        if after.mode is not None and sys.platform != "win32":
            os.fchmod(descriptor, after.mode)


def _keep_owner(at: At, descriptor: int) -> None:
    if sys.platform == "win32":
        return
    with suppress(FileNotFoundError, PermissionError):
        old = os.stat(at[0], dir_fd=at[1], follow_symlinks=False)
        if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _make_folder(plan: _StepPlan, task: Task) -> None:
    name, folder = plan.folders.at(task.item.place)
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    reached("folder-made")


def _name(journal: Journal, plan: _StepPlan, task: Task) -> None:
    """Move a file that was written beside its place into it."""
    old = plan.folders.at(plan.temporary(task))
    try:
        _place(plan, task, old)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # The folder is a mount point that could not go, or a subvolume: it is there by now.
        nearer = plan.folders.at(plan.nearer(task))
        _write_at(journal, plan, task, nearer)
        _place(plan, task, nearer)
        os.unlink(old[0], dir_fd=old[1])
    reached("file-placed")


def _place(plan: _StepPlan, task: Task, old: At) -> None:
    new = plan.folders.at(task.item.place)
    if _goes(task.item) or task.mark is None:
        _take_free(old, new)
    else:
        _expect(task, new)
        _rename(old, new)


def _take_free(old: At, new: At) -> None:
    """Take a name that is free, or fail: a file that has appeared there is not replaced."""
    try:
        os.link(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1], follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _FROM_ANOTHER:
            raise
        with suppress(FileNotFoundError):
            os.stat(new[0], dir_fd=new[1], follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1])
    else:
        os.unlink(old[0], dir_fd=old[1])


def _rename(old: At, new: At) -> None:
    os.replace(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1])


def _remove(plan: _StepPlan, task: Task) -> None:
    if task.mark is None:
        return  # it was removed when this was tried before
    at = plan.folders.at(task.item.place)
    if task.item.before.kind == "folder":
        os.rmdir(at[0], dir_fd=at[1])
    elif _expect(task, at) is not None:
        os.unlink(at[0], dir_fd=at[1])
    reached("thing-removed")


def _set_mode(task: Task) -> None:
    mode = task.item.after.mode
    if mode is not None:
        disk.set_mode(task.item.place, mode)
    reached("mode-set")
