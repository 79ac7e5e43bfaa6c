"""Results as a model reads them, before they are cut: redacted, never empty."""

from collections.abc import Mapping
from typing import cast

from lineshaft.trace import Redactor, condense_command_output, strip_ansi
from lineshaft.values import (
    CallRecord,
    CallResult,
    RunResult,
    SecretFinder,
    ToolSpec,
    fate_of_changes,
)

_UNFINISHED = "a task was cancelled before it was done: "
"""How the guest begins to tell of a task that the script did not await."""

_SILENT = "(the script returned None and printed nothing)"
_IDLE = (
    "(the script returned None, printed nothing and called no tool: `return` what is wanted;"
    " a function that it defines has to be called, as in `return await main()`)"
)
_EMPTY = "(the script returned an empty text)"
_TOLD = 20
"""Calls that wait, named to a model."""


def of_run(result: RunResult, redactor: SecretFinder) -> str:
    """Return a run's output and value; on failure what went wrong and what had been done.

    Standard error is told on failure, and where there is nothing else to tell; what it says of
    tasks that the script did not await is always told.
    """
    parts = [result.stdout.rstrip("\n")]
    if result.status == "success":
        if result.value is not None:
            parts.append(plain(result.value) or _EMPTY)
        if result.value is not None or result.stdout:
            parts += [line for line in result.stderr.split("\n") if line.startswith(_UNFINISHED)]
        else:  # a script that logs: what it says would be lost
            parts.append(result.stderr.rstrip("\n"))
    else:
        parts += [_error(result), result.stderr.rstrip("\n")]
    parts += _files(result)
    text = "\n".join(part for part in parts if part)
    return redacted(text or (_SILENT if result.calls else _IDLE), redactor)


def _files(result: RunResult) -> list[str]:
    """Return the fate of changed files, and the guards' findings in them."""
    lines: list[str] = []
    if result.changes and result.landed:
        named = [f"{c.path} {c.kind} +{c.added} -{c.removed}" for c in result.changes[:_TOLD]]
        more = len(result.changes) - len(named)
        names = ", ".join([*named, f"{more} more"] if more else named)
        count = len(result.changes)
        lines.append(f"[{count} file{'' if count == 1 else 's'} changed: {names}]")
    if fate := fate_of_changes(result):
        lines.append(f"[{fate}]")
    lines += [
        f"[{f.level} in {f.path}{f':{f.line}' if f.line else ''}: {f.message}]"
        for f in [f for f in result.findings if f.path and f.level != "info"][:_TOLD]
    ]
    return lines


def structured(value: object, redactor: Redactor) -> object:
    """Return data with secrets taken out of its texts; names alone hide nothing here."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return redactor.named(
            (str(name), structured(member, redactor)) for name, member in members.items()
        )
    if isinstance(value, list | tuple):
        return [structured(item, redactor) for item in cast("list[object]", value)]
    return value


def of_call(result: CallResult, spec: ToolSpec | None, redactor: Redactor) -> str:
    """Return one call's value, or why it failed."""
    if result.error is not None and result.pending:
        said = "A person will say whether it may be made. Do not make it again."
        return redacted(f"paused: {result.error.message}. {said} (run {result.run_id})", redactor)
    if result.error is not None:
        hint = f"\n{result.error.hint}" if result.error.hint else ""
        return redacted(f"{result.error.code}: {result.error.message}{hint}", redactor)
    value = result.value
    if spec is not None and spec.effect == "exec" and (told := _program(_members(value))):
        return redacted(told, redactor)
    return redacted(plain(value) or "(an empty text)", redactor)


def could_not_run(value: object) -> bool:
    """Return whether a value says that a program could not do its job: `{"ok": false, ...}`."""
    return _members(value).get("ok") is False


def _members(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _program(value: Mapping[str, object]) -> str:
    """Return how a program ended and what it printed, as a terminal shows it; empty: it is none."""
    if could_not_run(value):
        told = _members(value.get("error"))
        head = f"{told.get('code', 'E_TOOL_FAILED')}: {told.get('message', 'it could not be run')}"
        return f"{head}\n{plain(told['details'])}" if told.get("details") else head
    code = next((value[name] for name in ("exit_code", "exitCode") if name in value), None)
    stdout, stderr = value.get("stdout"), value.get("stderr")
    if code is None or not isinstance(stdout, str) or not isinstance(stderr, str):
        return ""
    parts = [f"exit code {code}", condense_command_output(stdout).rstrip("\n")]
    if stderr.strip():
        parts.append(f"stderr:\n{condense_command_output(stderr).rstrip()}")
    replaced = value.get("replaced_bytes", value.get("replacedBytes"))
    if replaced:
        parts.append(f"[{replaced} bytes of the output are not UTF-8, and shown as \ufffd]")
    return "\n".join(part for part in parts if part)


def redacted(text: str, redactor: SecretFinder) -> str:
    """Return a text without secrets and terminal codes."""
    return str(redactor.value(strip_ansi(text)))


def plain(value: object) -> str:
    """Return a text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    from pydantic_core import to_json  # noqa: PLC0415  slow, and `lineshaft run` does not need it

    return to_json(value, inf_nan_mode="constants").decode()


def _error(result: RunResult) -> str:
    error = result.error
    if result.status == "paused":
        return _paused(result)
    if error is None:
        return f"the run ended as {result.status}"
    where = f" (line {error.line})" if error.line else ""
    lines = [f"{error.code}{where}: {error.message}"]
    told = {error.hint}
    for finding in [f for f in result.findings if f.level == "error"][1:]:
        hint = "" if finding.hint in told else f" [{finding.hint}]"  # a signature stands there once
        told.add(finding.hint)
        lines.append(f"line {finding.line}: {finding.message}{hint if finding.hint else ''}")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    if error.traceback:
        lines.append(error.traceback.rstrip("\n"))
    effects = [f"{c.tool}({_short(c.arguments)}){_doubt(c)}" for c in result.effects]
    if effects:
        lines.append("already done: " + "; ".join(effects))
    return "\n".join(lines)


def _doubt(call: CallRecord) -> str:
    return "" if call.status == "done" else f" ({call.status}: in part, or not at all)"


def _paused(result: RunResult) -> str:
    calls = [f"{call.tool}({_short(call.arguments)})" for call in result.pending]
    lines = [f"paused: run {result.run_id} waits for a person to approve:"]
    lines += [f"- {call}" for call in calls[:_TOLD]]
    if len(calls) > _TOLD:
        lines.append(f"- and {len(calls) - _TOLD} more")
    lines.append("Nothing is lost: it goes on by itself where it stopped, without being run again.")
    return "\n".join(lines)


def _short(arguments: Mapping[str, object]) -> str:
    text = ", ".join(f"{name}={plain(value)}" for name, value in arguments.items())
    return text if len(text) <= 80 else f"{text[:77]}..."
