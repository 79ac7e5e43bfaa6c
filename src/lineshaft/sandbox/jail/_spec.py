"""The seam between engines and boundaries: the spec of a jail, and the jailed process.

Above: the engine `cpython` and `python_run`. Below: `_sandlock.py` and `_bubblewrap.py`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from msgspec import field

from lineshaft.values import StagedFile, Struct

ChangeHow = Literal["written", "folder", "symlink", "deleted"]


class SandboxSpec(Struct, frozen=True, kw_only=True):
    """The paths that the inside may reach, and its limits.

    Besides these paths the inside has the devices `null`, `zero`, `full`, `random` and
    `urandom`, and a private scratch folder that ends with the jail (in `HOME` and `TMPDIR`).
    It has no network, no other processes, no capabilities, and no way to more of them.
    """

    readable: tuple[Path, ...]
    """Files and folders; missing ones are left out. Readable files are also runnable."""

    writable: tuple[Path, ...] = ()
    """Folders that are written for real."""

    hidden: tuple[Path, ...] = ()
    """Below readable or writable ones, not to be seen."""

    readonly: tuple[Path, ...] = ()
    """Below writable ones, not to be written."""

    over: tuple[StagedFile, ...] = ()
    """Of the folder kept apart: what the inside sees instead of what is on the disk. Changes are
    told relative to it; what is hidden, and what lies elsewhere, is left out."""

    memory_mb: int = 512
    """Of the whole jail where the boundary can count so, else of each process."""

    processes: int = 32
    """At once, in the whole jail."""

    open_files: int = 256
    """Of each process."""

    file_mb: int = 64
    """Size of one file."""

    cpu_seconds: int | None = None
    """Of each process; None: the caller's clock is enough."""

    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """The whole environment, but for `HOME` and `TMPDIR`."""

    cwd: Path | None = None
    """Folder to start in; None: the private scratch."""

    proc: bool = True
    """Whether `/proc` is there, as far as the boundary shows it."""

    fixed_addresses: bool = False
    """Whether memory has the same addresses in every such jail, so that a run can be executed
    again; an attack inside then finds code more easily."""


class Jailed(Protocol):
    """The processes inside a jail, seen from outside. Safe to use from several threads."""

    @property
    def pid(self) -> int:
        """Of the first process inside, as the host sees it."""
        ...

    def kill(self) -> None:
        """End all processes inside, also those that left their session or group."""
        ...

    def changes(self) -> "Changes":
        """Return the changes to the folder kept apart; after the end, before `close`.

        Raises:
            EngineError: The run was killed before it could report them, or kept no folder apart.
        """
        ...

    def close(self) -> None:
        """End everything inside and remove the jail's files, new bytes of changes included."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Return how the first process ended, or None if it has not.

        When it ends the rest is ended too, so after a code nothing is left inside.

        Returns:
            Its exit code, or minus the number of the signal that ended it.
        """
        ...


class Jail(Protocol):
    """One kind of boundary."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        ...

    @property
    def keeps_apart(self) -> str:
        """How changes to a folder are kept apart: `copy-on-write`, or `copy` of the whole."""
        ...

    def start(
        self,
        argv: Sequence[str],
        *,
        spec: SandboxSpec,
        stdin: int,
        stdout: int,
        stderr: int,
        apart: Path | None = None,
    ) -> Jailed:
        """Start a program inside; blocks for some milliseconds, so call it in a thread.

        Args:
            argv: The program, by its absolute path, and its arguments.
            spec: The paths that it may reach, and its limits.
            stdin: Descriptor that becomes its 0; may be a socket. The caller keeps its own copy.
            stdout: Descriptor that becomes its 1.
            stderr: Descriptor that becomes its 2. No other descriptor gets inside.
            apart: Folder that the inside sees and writes at its own path, while the real one stays
                unchanged: `Jailed.changes` gives its changes. It starts there unless `spec.cwd`
                    says otherwise.

        Raises:
            NoBoundary: The boundary could not be put up. Nothing was started.
        """
        ...


class JailedChange(Struct, frozen=True, kw_only=True):
    """The change of one path of a folder by a run; the folder itself is untouched."""

    path: str
    """Relative to the folder, with `/`."""

    how: ChangeHow
    upper: str | None = None
    """Path of the new bytes, for `written`; gone once the run is closed."""

    mode: int | None = None
    """Permission bits after the run, without set-id bits; None for `deleted` and `symlink`."""

    target: str | None = None
    """The target of a `symlink`."""

    before_sha256: str | None = None
    """Of the file's bytes, on the disk or laid over it, when the run first touched it; None where
    there was no file."""


class Changes(Struct, frozen=True, kw_only=True):
    """The changes of a run to a folder."""

    files: tuple[JailedChange, ...]
    """Every path that differs, folders before what is in them, deleted ones too."""

    refused: tuple[str, ...] = ()
    """Changed paths that are hidden or read-only, and special files. Landing the rest without them
    lands half of the run's changes."""


class AttackResult(Struct, frozen=True, kw_only=True):
    """One attack from inside."""

    attack: str
    """The attack, in words."""

    held: bool
    how: str
    """The observation inside: the refusal, or the leak."""

    counts: bool = True
    """The same attack succeeded without the boundary; otherwise it proves nothing here."""


class Boundary(Struct, frozen=True, kw_only=True):
    """The result of the attacks on one boundary on this machine."""

    name: str
    usable: bool
    reasons: tuple[str, ...] = ()
    """The reason why not, or the part that is weaker here than elsewhere."""

    attacks: tuple[AttackResult, ...] = ()
    """Empty where it is not usable."""

    changes: str = ""
    """How changes to a folder are kept apart: `copy-on-write`, `copy`."""
