"""The workspace, in which files and commands live: the seam, and the values that cross it.

Above: the gate and the kit's tools. Below: a folder, staged changes, or an editor far away.
Paths are workspace-relative with `/`, or start with an alias (`@pkg/...`).
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Literal, Protocol, Self

from msgspec import field

from lineshaft.errors import LineshaftError
from lineshaft.values._cutting import NO_SECRETS, SecretFinder
from lineshaft.values._struct import Struct

Capability = Literal["staged", "atomic", "undo", "run", "run_python"]
"""What a workspace can do beside reads and writes: keep changes back until they land (`staged`),
land them whole whatever happens to the process meanwhile (`atomic`), take back what landed."""

READ_TOGETHER = 1_000_000
"""Bytes of files that are read in one go, but for the last one of them."""

ChangeKind = Literal["created", "modified", "deleted", "moved"]
EntryKind = Literal["file", "folder", "symlink", "other"]
StagedKind = Literal["file", "folder", "symlink", "missing"]
Stream = Literal["stdout", "stderr"]


class Resolved(Struct, frozen=True, kw_only=True):
    """A path, decided on the real file system."""

    path: str
    """Canonical: relative to the workspace with `/` (`.` is its root), or `@alias/...`."""

    real: str
    """On this machine; never shown to a model."""

    alias: str
    """The mount it lies in; `project` for the workspace itself."""

    writable: bool = True
    """Whether the mount that it lies in may be changed."""


class Entry(Struct, frozen=True, kw_only=True):
    """One file or folder."""

    path: str
    """Canonical path."""

    kind: EntryKind
    """Kind of the entry itself; `symlink` only where it leads out of the workspace or nowhere."""

    size: int = 0
    """Bytes; 0 for folders."""

    hidden: bool = False
    """Some part of the path starts with a dot."""

    symlink: bool = False
    """Whether it is a link."""

    closed: bool = False
    """Whether it is a folder that the walk could not read."""


ApprovePaths = Callable[[Sequence[str]], None]
"""Takes paths, and raises the error to report where one of them may not be touched. May be called
in any thread."""

ConfirmUndo = Callable[[], Coroutine[object, object, None]]
"""Returns where an undo may go on, and raises the error to report where it may not."""


class Content(Struct, frozen=True, kw_only=True):
    """A file's bytes at one moment."""

    data: bytes
    """The bytes."""

    sha256: str
    """Of the bytes of the whole file."""


class StagedFile(Struct, frozen=True, kw_only=True):
    """The state of one path in a view, where the disk has another one."""

    path: str
    """Canonical."""

    real: str
    """On this machine; never shown to a model."""

    kind: StagedKind
    """Kind of the entry itself; `missing`: nothing is there, nor below it."""

    sha256: str | None = None
    """Of a file's content."""

    size: int = 0
    """Bytes of a file's content."""

    mode: int | None = None
    """Permission bits of a file or folder; None: as the system gives them."""

    target: str | None = None
    """The text of a symlink."""

    came_from: str | None = None
    """Path on this machine of the file that was moved here, unless its content is new."""

    parts: Callable[[], Iterator[bytes]] = lambda: iter(())
    """Returns a file's content piece by piece; blocks. Raises `WorkspaceError` where the file that
    was moved here has another content by now."""

    was: StagedKind = "missing"
    """Kind of the entry on the disk when the view first saw it."""

    before: Callable[[], bytes | None] = lambda: None
    """Returns the file's content on the disk; blocks. None where no file was there: a symlink is
    not followed. Raises `WorkspaceError` where the file cannot be read, or has another content by
    now."""


class Change(Struct, frozen=True, kw_only=True):
    """A change of one file, made or still to be made."""

    path: str
    """In the workspace, with `/`."""

    kind: ChangeKind
    """What was done."""

    moved_from: str | None = None
    """Where it was before, of what was moved; null otherwise."""

    added: int = 0
    """Lines."""

    removed: int = 0
    """Lines."""

    sha256: str | None = None
    """Of the content after the change; None where the file is gone."""

    stage: int = 0
    """Number of the stage that it belongs to; the first is 1."""

    undoable: bool = False
    """Whether `undo` takes it back: not what a command changed."""


class Undone(tuple[Change, ...]):
    """The changes by which a run's own were taken back.

    Args:
        changes: The changes.
        already: As the field.
    """

    already: tuple[str, ...]
    """Files that were as before the run already, such as by an undo in an editor."""

    def __new__(cls, changes: Iterable[Change] = (), *, already: tuple[str, ...] = ()) -> Self:
        """Return the changes, and the files that needed none."""
        made = super().__new__(cls, tuple(changes))
        made.already = already
        return made


class Finding(Struct, frozen=True, kw_only=True):
    """A problem that a check found in a script or in changes."""

    code: str
    """Kind of finding, such as `unknown-argument` or `merge-marker`."""

    message: str
    """What is wrong, in a sentence."""

    level: Literal["error", "warning", "info"] = "warning"
    """`error` blocks."""

    line: int | None = None
    """1-based, in the script or file as written."""

    column: int | None = None
    """1-based, in characters."""

    path: str | None = None
    """The file, for findings about changes; None for the script."""

    hint: str = ""
    """The right signature, or the text to write instead."""


class Command(Struct, frozen=True, kw_only=True):
    """A process to start."""

    argv: tuple[str, ...]
    """The program and its arguments; no shell."""

    cwd: str = "."
    """Workspace path."""

    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the minimal environment, by name."""

    seconds: float = 60
    """Then the whole process tree ends."""

    stdout_bytes: int = 50_000
    """Kept; head and tail with a marker between."""

    stderr_bytes: int = 10_000
    """The same of its error output."""


class Line(Struct, frozen=True, kw_only=True):
    """One line of a process's output, without its line break."""

    stream: Stream
    """Where it was written to."""

    text: str
    """The line, decoded."""


class Exit(Struct, frozen=True, kw_only=True):
    """How a process ended."""

    exit_code: int
    """The real one; minus the signal's number where a signal ended it."""

    stdout: str
    """Its output, as far as it was kept."""

    stderr: str
    """Its error output, as far as it was kept."""

    stdout_bytes: int
    """How many bytes it wrote in all."""

    stderr_bytes: int
    """The same of its error output."""

    stdout_truncated: bool
    """Whether some of its output was left out."""

    stderr_truncated: bool
    """Whether some of its error output was left out."""

    duration_ms: float
    """Milliseconds that it took."""

    timed_out: bool = False
    """Whether its time was up, and it was ended."""

    replaced_bytes: int = 0
    """Bytes of its output, as far as it was kept, that are not UTF-8: they stand as U+FFFD."""

    changes: tuple[Change, ...] = ()
    """The files that it changed, where the workspace can tell."""


class Process(Protocol):
    """A running process tree; `kill` and cancellation of its waiter end it whole."""

    def lines(self) -> AsyncIterator[Line]:
        """Return its lines as they come; ends when the output ends."""
        ...

    async def wait(self) -> Exit:
        """Wait for the end; on cancellation the whole tree is ended first."""
        ...

    async def kill(self) -> None:
        """End the whole tree: SIGTERM, 2 s, SIGKILL; the drain takes 1 s at most."""
        ...


class Guard(Protocol):
    """A check of changes before they land: a function, or an object that can be called.

    A plain function runs in a thread; a coroutine function may read contents. An exception is a
    finding of level `error`, and so is a time-out.
    """

    def __call__(
        self, changes: Sequence[Change], stage: "Stage"
    ) -> Sequence[Finding] | Awaitable[Sequence[Finding]]:
        """Return the findings; one of level `error` keeps the changes from landing.

        Args:
            changes: The changes to land, one entry a path.
            stage: The view to read them from: `read` gives a file's new content, `before` its old
                one; nothing can be changed through it.
        """
        ...


class Workspace(Protocol):
    """Files and commands. Errors are `WorkspaceError`s."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of this workspace."""
        ...

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """Decide where a path leads.

        Args:
            path: As given by a script; relative, or with an alias.
            follow: Whether the last part is followed if it is a symlink.

        Raises:
            OutsideWorkspace: It leads out, is absolute, has a NUL, or names an unknown alias.
        """
        ...

    async def stat(self, path: str) -> Entry:
        """Return what is at a path, or raise `FileMissing`."""
        ...

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """Return a file's bytes, and remember the version read for `E_STALE`.

        Args:
            path: The file.
            noted: Whether it counts as read: not where only its form is asked for.
        """
        ...

    async def read_many(self, paths: Sequence[str]) -> list[Content | LineshaftError]:
        """Return the bytes of files, as `read` does; a view of a folder reads them in one go.

        Args:
            paths: The files.

        Returns:
            For each path its content, or the error of reading it, in order. Contents are bounded
            together (`READ_TOGETHER` bytes and one file more), so the list may be shorter than
            `paths`; it is empty only where `paths` is.
        """
        found: list[Content | LineshaftError] = []
        room = READ_TOGETHER
        for path in paths:
            if room < 0:
                break
            try:
                content = await self.read(path)
            except LineshaftError as error:
                found.append(error)
            else:
                found.append(content)
                room -= len(content.data)
        return found

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """Write a file whole, parents created.

        Args:
            path: The file.
            data: All of its new content.
            if_match: The sha256 that it has to have.
            mode: Its new permission bits; None: they are kept, or as the system gives them.

        Raises:
            PreconditionFailed: `if_match` is not the sha256 of what is there.
            StaleFile: Another program changed it since this view read or wrote it.
        """
        ...

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """Make a folder, parents created; an existing one is kept, and gets the mode.

        Args:
            path: The folder.
            mode: Its permission bits; None: as they are, or as the system gives them.

        Raises:
            PreconditionFailed: A file or symlink is there.
        """
        ...

    async def link(self, path: str, target: str) -> Change:
        """Make a symlink where nothing is, parents created.

        Args:
            path: Its place.
            target: Its text: relative to its own folder, or an absolute path of this machine.

        Raises:
            OutsideWorkspace: It would lead out.
            PreconditionFailed: The place is not empty.
        """
        ...

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
        ...

    async def delete(self, path: str) -> Change:
        """Delete a file or an empty folder; a symlink goes, its target stays."""
        ...

    def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """Return all entries below a folder, sorted, symlinked folders not entered.

        Args:
            root: Workspace path of the folder.
            ignore: Whether `.gitignore` files and `.git` are respected.
            depth: How many folders deep to go; 1: only the folder's own entries.
        """
        ...

    async def run(self, command: Command) -> Process:
        """Start a process whose working directory is inside the workspace."""
        ...

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """Return what this view has and the disk does not: changes that have not landed.

        Those of the views below a layer are among them. Each path on this machine is there once.
        A program that works on the disk's content with these laid over sees what this view sees.
        Of what policy hides from a call, its view tells the place and the kind alone.
        """
        ...

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> "Stage":
        """Return a view for one run, which knows what it read and changed.

        Args:
            run_id: Whose changes they are, for `undo`.
            atomic: Whether changes stay in the view until `land`.
            packed: From `Stage.pack`: go on where that view was. Empty: that view died with its
                process, and only what landed is known.
            secrets: What is not cut in two where the output of commands is.

        Raises:
            ConfigError: This workspace lacks a capability that is asked for.
        """
        ...

    async def recover(self) -> tuple[Finding, ...]:
        """Finish or take back landings that a crash interrupted; cheap where there are none.

        Returns:
            The actions taken, and each file left alone because another program changed it since.
        """
        ...

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Take back all landed changes of a run, whole or not at all.

        Args:
            run_id: The run.
            confirm: Called when all of them can be taken back, and before the first is; an error
                that it raises is raised, and nothing was done.

        Raises:
            StaleFile: Some of the files were changed since; they are named, nothing was done.
            StateError: The run's changes are not known, or no longer all of them.
        """
        ...


class Stage(Workspace, Protocol):
    """One run's view of a workspace, and the changes made through it."""

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        ...

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes of this view, landed or not: one entry a path and stage, in order.

        Net within a stage. `stage` counts from 1; `undoable` where the content before is kept.
        Those of layers over it come last.
        """
        ...

    async def before(self, path: str) -> Content | None:
        """Return a file's content before the changes that have not landed; None: there was no file.

        It does not count as read.
        """
        ...

    async def diff(self) -> str:
        """Return the changes that have not landed as one unified diff, of a bounded size."""
        ...

    async def consult(self, process: str = "") -> tuple[Finding, ...]:
        """Ask the person at the editor, before a landing and before a process starts.

        What they have not saved, and a landing changes or the process would not see, is asked
        about. Without an editor no person is asked.

        Args:
            process: The process that is about to start, in words; empty: none is.

        Returns:
            What the result of the run should say of it.

        Raises:
            WindowRefused: They refused; nothing landed. The message names the files.
            WorkspaceError: There is no window to ask.
        """
        ...

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Write the changes to the disk, all or none; without changes no guard is asked.

        Those of a layer land together with those of the views below it.

        Returns:
            The guards' findings, none of them an error.

        Raises:
            Guarded: A guard found an error; the error has all findings, nothing landed.
            StaleFile: Another program changed a file since it was read; nothing landed.
            WorkspaceError: The changes cannot land; nothing landed.
        """
        ...

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about the changes that have not landed; raises `Guarded` as `land` does.

        Returns:
            The guards' findings, none of them an error.
        """
        ...

    async def discard(self) -> None:
        """Drop the changes that have not landed."""
        ...

    @property
    def touched(self) -> bool:
        """Whether anything was ever changed through this view."""
        ...

    def layer(self, name: str) -> "Stage":
        """Return a view over this one, whose changes stay in it until `merge`.

        Args:
            name: Unique in this view; that of a packed layer goes on with it.

        Raises:
            ConfigError: Changes through this view are not kept back.
        """
        ...

    async def merge(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Make the changes of this layer those of the view below, all or none.

        What it has only read is looked at when the changes land.

        Returns:
            The guards' findings, none of them an error.

        Raises:
            Guarded: A guard found an error; nothing was merged.
            StaleFile: A file that it changes was changed below since; nothing was merged.
        """
        ...

    def drop(self) -> None:
        """End a layer: its changes that were not merged are dropped."""
        ...

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """The changes of layers that were dropped, in order; a path may be there several times."""
        ...

    async def fork(self) -> "Stage":
        """Return a copy of the view whose changes never land; its `diff` is from here on."""
        ...

    async def pack(self) -> bytes:
        """Return the state of the view (changes not landed, versions read), to go on elsewhere."""
        ...
