"""Results of `python_run`."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class ProgramRan(TypedDict):
    """A program that ran to its end, or was ended."""

    ok: Literal[True]
    """True: it ran."""

    stdout: str
    """What it printed, 50,000 bytes at most."""

    stderr: str
    """What it wrote to standard error, 10,000 bytes at most."""

    exitCode: int
    """0 where all went well; minus the number of the signal that ended it."""

    durationMs: int
    """Milliseconds from start to end."""

    stdoutTruncated: bool
    """Whether the middle of it was left out."""

    stderrTruncated: bool
    """The same of standard error."""

    boundary: str
    """What held it: a jail's name, `wasm`, or `none`."""

    replacedBytes: NotRequired[int]
    """Bytes that it printed that are not UTF-8: they stand as `U+FFFD`, and are lost."""

    notKept: NotRequired[list[str]]
    """What it left behind that a workspace does not hold: symlinks that lead out, names
    that are not UTF-8."""

    leftOut: NotRequired[list[str]]
    """What of the workspace it could not see, beside what policy closes, each with the reason."""


class ProgramError(TypedDict):
    """Why a program could not be run, or not to its end."""

    code: str
    """`PYTHON_NOT_FOUND`, `PYTHON_EXEC_FAILED`, `PYTHON_TIMEOUT`, or a code of the workspace."""

    message: str
    """What happened, and what to do."""

    details: dict[str, object]
    """What it had printed, and the like."""


class ProgramDidNotRun(TypedDict):
    """A program that the runtime could not run to its end."""

    ok: Literal[False]
    """False: it did not run to its end."""

    error: ProgramError
    """Why."""


PythonResult = ProgramRan | ProgramDidNotRun
