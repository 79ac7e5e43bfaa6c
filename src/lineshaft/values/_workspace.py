"""Where files and commands live: the seam, and the values that cross it.

Above: the gate and the kit's tools. Below: a folder, staged changes, or an editor far away.
Paths are workspace-relative with `/`, or start with an alias (`@pkg/...`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lineshaft.values._cutting import NO_SECRETS, SecretFinder

Capability = Literal["atomic", "undo", "run", "run_python"]
ChangeKind = Literal["created", "modified", "deleted", "moved"]
EntryKind = Literal["file", "folder", "symlink", "other"]
Stream = Literal["stdout", "stderr"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A path, decided on the real file system."""

    path: str
    """Canonical: relative to the workspace with `/` (`.` is its root), or `@alias/...`."""

    real: str
    """On this machine; never shown to a model."""

    alias: str
    """The mount it lies in; `project` for the workspace itself."""

    writable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file or folder."""

    path: str
    kind: EntryKind
    """Of the thing itself; `symlink` only where it leads out of the workspace or nowhere."""

    size: int = 0
    """Bytes; 0 for folders."""

    hidden: bool = False
    """Some part of the path starts with a dot."""

    symlink: bool = False

    closed: bool = False
    """Whether it is a folder of the walk that could not be looked into."""


ApprovePaths = Callable[[Sequence[str]], None]
"""Is given paths; raises what is to be raised where one of them may not be touched. May be called
in any thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file's bytes at one moment."""

    data: bytes
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happened, or is to happen, to one file."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something a check has to say about a script or about changes."""

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
    """The right signature, or what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A process to start."""

    argv: tuple[str, ...]
    cwd: str = "."
    """Workspace path."""

    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to the minimal environment, by name."""

    seconds: float = 60
    """Then the whole process tree ends."""

    stdout_bytes: int = 50_000
    """Kept; head and tail with a marker between."""

    stderr_bytes: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a process's output, without its line break."""

    stream: Stream
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a process ended."""

    exit_code: int
    """The real one; minus the signal's number where a signal ended it."""

    stdout: str
    stderr: str
    stdout_bytes: int
    """How many bytes it wrote in all."""

    stderr_bytes: int
    stdout_truncated: bool
    stderr_truncated: bool
    duration_ms: float
    timed_out: bool = False
    changes: tuple[Change, ...] = ()
    """What files it changed, where the workspace can tell."""


class Process(Protocol):
    """A running process tree, ended whole by `kill` and by cancellation of whoever waits."""

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

    A plain function runs in a thread; a coroutine function may read contents. What it raises is a
    finding of level `error`, and so is not coming back in time.
    """

    def __call__(
        self, changes: Sequence[Change], stage: "Stage"
    ) -> Sequence[Finding] | Awaitable[Sequence[Finding]]:
        """Return what is wrong; a finding of level `error` keeps the changes from landing.

        Args:
            changes: What is to land, one entry a path.
            stage: The view to read them from: `read` gives what a file is to be, `before` what
                it was; nothing can be changed through it.
        """
        ...


class Workspace(Protocol):
    """Files and commands. Errors are `WorkspaceError`s."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this workspace can do."""
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

    async def read(self, path: str) -> Content:
        """Return a file's bytes, and remember what was seen for `E_STALE`."""
        ...

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
            StaleFile: Somebody else changed it since this view read or wrote it.
        """
        ...

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """Make a folder, parents created; one that is there is kept, and gets the mode.

        Args:
            path: The folder.
            mode: Its permission bits; None: as they are, or as the system gives them.

        Raises:
            PreconditionFailed: Something else is there.
        """
        ...

    async def link(self, path: str, target: str) -> Change:
        """Make a symlink where nothing is, parents created.

        Args:
            path: Its place.
            target: What it says: relative to its own folder, or a whole path of this machine.

        Raises:
            OutsideWorkspace: It would lead out.
            PreconditionFailed: Something is there.
        """
        ...

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """Move a file or folder; `PreconditionFailed` where the target exists.

        Args:
            source: What to move.
            target: Its new path.
            approve: Is given every path below a folder, under its old and its new name, at the
                moment of the move; what it raises, the move raises, and nothing is moved.
        """
        ...

    async def delete(self, path: str) -> Change:
        """Delete a file or an empty folder; a symlink goes, what it leads to stays."""
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
            ConfigError: This workspace has not what is asked for.
        """
        ...

    async def recover(self) -> tuple[Finding, ...]:
        """Finish or take back what a crash left half landed; cheap where there is nothing.

        Returns:
            What was done, and each file that was left alone because somebody changed it since.
        """
        ...

    async def undo(self, run_id: str) -> tuple[Change, ...]:
        """Take back all landed changes of a run, whole or not at all.

        Raises:
            StaleFile: Somebody changed some of the files since; they are named, nothing was done.
            StateError: Nothing, or no longer everything, is known of the run's changes.
        """
        ...


class Stage(Workspace, Protocol):
    """One run's view of a workspace, and the changes made through it."""

    @property
    def landed(self) -> int:
        """How many times changes have landed."""
        ...

    async def changes(self) -> tuple[Change, ...]:
        """Return what this view changed, landed or not: one entry a path and stage, in order.

        Net within a stage. `stage` counts from 1; `undoable` where the content before is kept.
        """
        ...

    async def before(self, path: str) -> Content | None:
        """Return what a file was before the changes that have not landed; None: no file was there.

        It is not noted as read.
        """
        ...

    async def diff(self) -> str:
        """Return what has not landed as one unified diff, of a bounded size."""
        ...

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Make the changes real, all or none; where nothing is to land, nothing is asked.

        Returns:
            What the guards said, none of it an error.

        Raises:
            Guarded: A guard found an error; the error has all findings, nothing landed.
            StaleFile: Somebody else changed a file since it was read; nothing landed.
            WorkspaceError: They cannot land; nothing landed.
        """
        ...

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about what has not landed; it raises `Guarded` as `land`, and nothing lands.

        Returns:
            What the guards said, none of it an error.
        """
        ...

    async def discard(self) -> None:
        """Drop what has not landed."""
        ...

    async def fork(self) -> "Stage":
        """Return a copy of the view whose changes never land; its `diff` is from here on."""
        ...

    async def pack(self) -> bytes:
        """Return what has not landed and what was seen, for a view that goes on elsewhere."""
        ...
