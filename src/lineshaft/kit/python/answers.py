"""Conversion of a program's end to the answer of `python_run`."""

from collections.abc import Mapping, Sequence

from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.kit.jailed import land
from lineshaft.kit.python.results import ProgramDidNotRun, ProgramRan, PythonResult
from lineshaft.sandbox.jail import Changes
from lineshaft.values import Context, Struct


class ProgramOutput(Struct, frozen=True, kw_only=True):
    """The output of a program."""

    stdout: str
    stderr: str
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    replaced_bytes: int = 0

    def told(self) -> dict[str, object]:
        """Return it as details of an error."""
        return {"stdout": self.stdout, "stderr": self.stderr}


def failed(
    code: str, message: str, *, hint: str = "", details: Mapping[str, object] | None = None
) -> ProgramDidNotRun:
    """Return the answer for a program that could not be run to its end."""
    told = {**(details or {}), **({"hint": hint} if hint else {})}
    return {"ok": False, "error": {"code": code, "message": message, "details": told}}


def timed_out(message: str, printed: ProgramOutput) -> ProgramDidNotRun:
    """Return the answer for a program whose time was up."""
    hint = "Do less at once; python.timeout_seconds and limits.call_seconds set its time."
    return failed("PYTHON_TIMEOUT", message, hint=hint, details=printed.told())


def did_not_begin(code: int, printed: ProgramOutput) -> ProgramDidNotRun:
    """Return the answer for an interpreter that ended before its program began."""
    text = f"Python ended with {code} before the program began"
    return failed("PYTHON_EXEC_FAILED", text, details=printed.told())


def ran(
    code: int,
    printed: ProgramOutput,
    *,
    milliseconds: float,
    boundary: str,
    not_kept: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> ProgramRan:
    """Return the answer for a program that ran."""
    result: ProgramRan = {
        "ok": True,
        "stdout": printed.stdout,
        "stderr": printed.stderr,
        "exitCode": code,
        "durationMs": round(milliseconds),
        "stdoutTruncated": printed.stdout_truncated,
        "stderrTruncated": printed.stderr_truncated,
        "boundary": boundary,
    }
    if printed.replaced_bytes:
        result["replacedBytes"] = printed.replaced_bytes
    if not_kept:
        result["notKept"] = list(not_kept)
    if left_out:
        result["leftOut"] = list(left_out)
    return result


async def landed(
    call: Context,
    changes: Changes,
    *,
    code: int,
    printed: ProgramOutput,
    milliseconds: float,
    boundary: str,
    left_out: Sequence[str] = (),
) -> PythonResult:
    """Make a program's changes real, and return the answer.

    Args:
        call: The call.
        changes: What the program did.
        code: Its exit code.
        printed: What it printed.
        milliseconds: How long it took.
        boundary: What held it.
        left_out: What of the workspace it could not see.
    """
    try:
        not_kept = await land(call, changes)
    except (ToolError, WorkspaceError) as error:
        details = {**printed.told(), "exitCode": code}
        return failed(error.code, error.message, hint=error.hint, details=details)
    return ran(
        code,
        printed,
        milliseconds=milliseconds,
        boundary=boundary,
        not_kept=not_kept,
        left_out=left_out,
    )
