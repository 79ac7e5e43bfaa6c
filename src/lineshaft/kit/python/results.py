"""Results of `python_run`."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class ProgramRan(TypedDict):
    """A program that ran to its end, or was ended."""

    ok: Literal[True]
    stdout: str
    stderr: str
    exitCode: int
    """0 where all went well; minus the number of the signal that ended it."""

    durationMs: int
    stdoutTruncated: bool
    """Whether the middle of it was left out."""

    stderrTruncated: bool
    boundary: str
    """What held it: a jail's name, `wasm`, or `none`."""

    notKept: NotRequired[list[str]]
    """What it left behind that a workspace does not hold: symlinks that lead out."""

    leftOut: NotRequired[list[str]]
    """What of the workspace it could not see, beside what policy closes, each with the reason."""


class ProgramError(TypedDict):
    """Why a program could not be run, or not to its end."""

    code: str
    message: str
    details: dict[str, object]


class ProgramDidNotRun(TypedDict):
    """A program that the runtime could not run to its end."""

    ok: Literal[False]
    error: ProgramError


PythonResult = ProgramRan | ProgramDidNotRun
