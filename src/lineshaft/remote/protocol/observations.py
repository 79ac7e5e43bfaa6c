"""Observations, by which an editor answers actions, as values.

The names and fields are those of OpenHands' events (V0). Its classes take no others, except in
`metadata`: so what is of our own stands there.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import field

from lineshaft.values import Struct

UNKNOWN_EXIT = -1
"""The exit code of a command that a signal ended, that ran out of time, or that still runs."""


class RunMetadata(Struct, frozen=True, kw_only=True):
    """Facts about a command that ran."""

    exit_code: int = UNKNOWN_EXIT
    """The real one, or -1 where there is none."""

    pid: int = -1
    """Its process; -1: unknown."""

    working_dir: str | None = None
    """The folder that it ran in, in the workspace, with `/`."""

    suffix: str = ""
    """A sentence for who reads the output, such as what ended the command."""

    signal: str | None = None
    """The signal that ended it, such as `SIGKILL`."""

    timed_out: bool = False
    """Whether it was ended because its time was over."""

    backend: str = ""
    """Means by which it ran: `process`, `pseudoterminal` or `shell_integration`."""

    where: str = ""
    """The same in words, with the names of the variables that it got; empty: not told."""


class RunObservation(Struct, frozen=True, kw_only=True):
    """Output and exit code of a command."""

    content: str
    """Standard output and standard error in the order in which they came."""

    command: str
    metadata: RunMetadata = field(default_factory=RunMetadata)
    hidden: bool = False


class ReadObservation(Struct, frozen=True, kw_only=True):
    """Text of a file, with its own line ends."""

    content: str
    path: str
    impl_source: Literal["default", "oh_aci"] = "default"


class WriteObservation(Struct, frozen=True, kw_only=True):
    """A file that was written."""

    content: str
    """A sentence that says what was done."""

    path: str


class EditObservation(Struct, frozen=True, kw_only=True):
    """An edit that was made, or a view."""

    content: str
    """The lines around the change, numbered; of a view, what was asked for."""

    path: str
    prev_exist: bool = True
    """Whether the file was there before."""

    old_content: str | None = None
    """The whole text before; None where there was no file, and for a view."""

    new_content: str | None = None
    """The whole text after; None for a view."""

    impl_source: Literal["oh_aci", "llm_based_edit"] = "oh_aci"
    diff: str | None = None
    """The change as a unified diff; None for a view."""


class RunPythonObservation(Struct, frozen=True, kw_only=True):
    """Output and exit code of a Python program."""

    content: str
    """Standard output."""

    stderr: str = ""
    exit_code: int = UNKNOWN_EXIT


class EditorDiagnostic(Struct, frozen=True, kw_only=True):
    """A finding of a language server or linter of the editor."""

    path: str
    """In the workspace, with `/`."""

    range: Sequence[int]
    """First line and column, last line and column, each counted from 1; the last is behind it."""

    severity: Literal["error", "warning", "info", "hint"]
    message: str
    code: str | None = None
    source: str | None = None
    """The program that found it, such as `ts`."""


class GetErrorsObservation(Struct, frozen=True, kw_only=True):
    """The diagnostics of files."""

    content: str
    """A line for each."""

    count: int
    """All that there are."""

    diagnostics: Sequence[EditorDiagnostic] = ()
    """The first 1,000, errors first."""

    settled: bool = True
    """Whether nothing changed for a second; else they may not be all."""

    truncated: bool = False
    """Whether some are left out."""


class UnsavedBuffer(Struct, frozen=True, kw_only=True):
    """A file that the window shows with changes which are not saved."""

    path: str
    """In the workspace, with `/`."""

    version: str
    """Another one after each change."""

    state: Literal["sent", "known", "unclear"]
    """Whether `data` is there, was asked not to be sent, or cannot be told: the editor would not
    write the rest of the file down as it is."""

    data: str | None = None
    """The bytes of the file, were it saved, in Base64."""


class BuffersObservation(Struct, frozen=True, kw_only=True):
    """The files that the window shows with changes which are not saved."""

    content: str
    buffers: Sequence[UnsavedBuffer] = ()
    nonce: str | None = None
    """Hash (SHA-256, hexadecimal) of the file that was asked for; None: it is not there."""


class PrepareObservation(Struct, frozen=True, kw_only=True):
    """A window in which no change of the person's is in the way any more."""

    content: str
    """A sentence that says what the person decided."""

    saved: Sequence[str] = ()
    """Files that were saved for a process."""

    left: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions by path that stay unsaved, as the person decided now or before."""

    review: bool = False
    """Whether the person wants to look at each change before it lands."""


class ReviewObservation(Struct, frozen=True, kw_only=True):
    """A person's decision about changes that are to land."""

    content: str
    dropped: Mapping[str, str] = field(default_factory=dict[str, str])
    """Reasons by path of the changes that do not land; empty where the person gave none."""


class LandedFile(Struct, frozen=True, kw_only=True):
    """A file after its change."""

    path: str
    by_editor: bool
    """Whether one undo in the editor takes it back; else it was written to the disk."""

    data: str | None = None
    """Its content in Base64, where saving changed it; None: it is what was sent."""


class LandObservation(Struct, frozen=True, kw_only=True):
    """Files that were changed and saved."""

    content: str
    files: Sequence[LandedFile] = ()


class PersonAnswer(Struct, frozen=True, kw_only=True):
    """A person's answer about one call."""

    id: str
    allow: bool
    scope: Literal["call", "run"] = "call"
    """`run`: also for later calls of the run that the same rule asks about."""

    reason: str = ""
    """Why not, as the person typed it; the script gets it."""


class ApproveObservation(Struct, frozen=True, kw_only=True):
    """A person's answers."""

    content: str
    answers: Sequence[PersonAnswer] = ()


class CallToolObservation(Struct, frozen=True, kw_only=True):
    """The result of a tool that the window has offered."""

    content: str
    """What it says, as text."""

    structured: bool = False
    """Whether `value` is the result; else it is the text."""

    value: object = None
    """The result as JSON has it."""


class ErrorObservation(Struct, frozen=True, kw_only=True):
    """A reason why an action was not done, or not to its end."""

    content: str
    """What was wrong, with what, and what to do."""

    error_id: str = ""
    """The stable code, such as `E_SANDBOX_VIOLATION`."""


Observation = (
    RunObservation
    | ReadObservation
    | WriteObservation
    | EditObservation
    | RunPythonObservation
    | GetErrorsObservation
    | BuffersObservation
    | PrepareObservation
    | ReviewObservation
    | LandObservation
    | ApproveObservation
    | CallToolObservation
    | ErrorObservation
)

OBSERVATIONS: Mapping[str, type[Observation]] = {
    "run": RunObservation,
    "read": ReadObservation,
    "write": WriteObservation,
    "edit": EditObservation,
    "run_python": RunPythonObservation,
    "get_errors": GetErrorsObservation,
    "buffers": BuffersObservation,
    "prepare": PrepareObservation,
    "review": ReviewObservation,
    "land": LandObservation,
    "approve": ApproveObservation,
    "call_tool": CallToolObservation,
    "error": ErrorObservation,
}
"""Kinds of observations by their name on the wire."""
