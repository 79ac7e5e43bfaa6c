"""Conversion of an engine's outcome to the run's end."""

import errno
import json
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from lineshaft.errors import LineshaftError
from lineshaft.scripts.reading import hint_for
from lineshaft.tools import Tool
from lineshaft.values import (
    CallRecord,
    Crashed,
    Diverged,
    Exceeded,
    Outcome,
    Pending,
    Raised,
    Returned,
    RunError,
    RunStatus,
    SecretFinder,
    Struct,
    ToolSpec,
    beginning,
    counted,
    encoded,
    first_few,
)

_LONGEST_INT = 640  # digits; Python may be set to refuse as few
_LONGEST_MESSAGE = 100_000
_BY_KIND = {"SyntaxError": "E_SYNTAX"}


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended, as far as its script and its limits decide that."""

    status: RunStatus
    value: object = None
    error: RunError | None = None


def ended(
    outcome: Outcome,
    *,
    source: str,
    specs: Sequence[ToolSpec],
    chosen: str,
    python: str,
    secrets: SecretFinder,
) -> Ended:
    """Return what an engine's outcome means.

    Args:
        outcome: From the engine.
        source: The script as written, for hints.
        specs: The tools it could call, for hints.
        chosen: Why its engine was chosen, for hints.
        python: The engine's version of Python, for hints.
        secrets: What is not cut in two where a message is too long.
    """
    match outcome:
        case Returned(value=value):
            return _returned(value)
        case Raised():
            raised = _shortened(outcome, secrets)
            error = _raised(raised, source=source, specs=specs, chosen=chosen, python=python)
            return Ended(status="error", error=error) if error else Ended(status="success")
        case Exceeded(limit="seconds"):
            error = RunError(code="E_TIMEOUT", message=outcome.message, line=outcome.line)
            return Ended(status="timeout", error=error)
        case Exceeded():
            hint = f"the limit is {outcome.limit!r}; ask for less at once, or raise it"
            error = RunError(code="E_LIMIT", message=outcome.message, line=outcome.line, hint=hint)
            return Ended(status="limit", error=error)
        case Crashed():
            error = RunError(code="E_ENGINE_CRASHED", message=outcome.message)
            return Ended(status="error", error=error)
        case Diverged():
            hint = "the script or what it reads differs from the record; run it anew"
            error = RunError(
                code="E_DIVERGED", message=outcome.message, line=outcome.line, hint=hint
            )
            return Ended(status="error", error=error)
        case _:
            return Ended(status="paused")


def paused(pending: Sequence[Pending], tools: Mapping[str, Tool], run_id: str) -> RunError:
    """Return what a run waits for, and what to do.

    Args:
        pending: The calls that wait.
        tools: The session's.
        run_id: The run's.
    """
    rules = dict.fromkeys((each.tool, each.rule) for each in pending)
    named = [f"{tool} (rule {rule!r})" if rule else tool for tool, rule in rules]
    verb = "waits" if len(pending) == 1 else "wait"
    message = f"{counted(len(pending), 'call')} {verb} for an approval: {first_few(named, _NAMED)}"
    silent = (tools[each.tool].effect_hint for each in pending if each.tool in tools)
    hint = f"give the session an approver, or answer: `lineshaft resume {run_id}`"
    said = next(filter(None, silent), "")
    return RunError(code="E_PAUSED", message=message, hint=f"{said}; or {hint}" if said else hint)


_NAMED = 5
"""Tools that wait, named in a message."""


def advised(error: RunError | None, calls: Sequence[CallRecord]) -> RunError | None:
    """Return an error with the advice of the call that it came from, where it has none itself.

    Args:
        error: The run's error.
        calls: Its calls.
    """
    if error is None or error.hint:
        return error
    for call in reversed(calls):
        if call.error is not None and call.error.message == error.message:
            return replace(error, hint=call.error.hint) if call.error.code == error.code else error
    return error


def told(error: Exception) -> RunError:
    """Return what ended a run that could not be carried out or settled."""
    if isinstance(error, LineshaftError):
        return RunError(code=error.code, message=error.message, hint=error.hint)
    text = f"the run could not be carried out: {type(error).__name__}: {error}"
    return RunError(code="E_ENGINE", message=text, hint=_next_step(error))


_BY_ERRNO: Mapping[int, str] = {
    errno.EFBIG: "files may not be larger than a limit of the shell allows: raise `ulimit -f`",
    errno.ENOSPC: "the disk is full: make room, such as by `lineshaft cache clear`",
    errno.EMFILE: "this process has as many files open as allowed: raise `ulimit -n`",
}


def _next_step(error: Exception) -> str:
    """Return what to do about a limit of the system that a run met; empty for other errors."""
    if isinstance(error, OSError):
        return _BY_ERRNO.get(error.errno or 0, "")
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "there is no room for a thread: end processes, or raise `ulimit -u` or `ulimit -v`"
    return ""


def _returned(value: object) -> Ended:
    try:
        if len(encoded(value)) >= _LONGEST_INT:
            json.dumps(value)  # refuses integers that Python itself would not write down
    except ValueError as error:
        known = type(error) is not ValueError  # of an encoder, which says the kind
        why = str(error) if known else "it holds an int of too many digits"
        text = f"the script's value is not JSON: {why}"
        hint = "return None, bool, int, float, str, list or dict; a huge integer as text"
        return Ended(status="error", error=RunError(code="E_NOT_JSON", message=text, hint=hint))
    return Ended(status="success", value=value)


def _shortened(raised: Raised, secrets: SecretFinder) -> Raised:
    """Return what a script raised with a message of a bounded length, in its traceback too."""
    message = raised.message
    if len(message) <= _LONGEST_MESSAGE:
        return raised
    short = f"{beginning(message, _LONGEST_MESSAGE, secrets=secrets)} ..."
    head = raised.traceback.removesuffix(message)
    traceback = f"{head}{short}" if head != raised.traceback else ""
    return replace(raised, message=short, traceback=traceback)


def _raised(
    raised: Raised, *, source: str, specs: Sequence[ToolSpec], chosen: str, python: str
) -> RunError | None:
    """Return the error; None where the script only ended itself."""
    if raised.kind == "SystemExit" and raised.message in ("", "0", "None"):
        return None
    code = raised.code or _BY_KIND.get(raised.kind, "E_SCRIPT")
    message = raised.message
    if code == "E_SCRIPT":
        message = f"{raised.kind}: {message}" if message else raised.kind
    return RunError(
        code=code,
        message=message,
        line=raised.line,
        hint=hint_for(raised, source=source, specs=specs, chosen=chosen, python=python),
        traceback=raised.traceback,
    )
