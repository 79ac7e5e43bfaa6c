"""A finished run as a person reads it."""

import sys
from collections.abc import Sequence
from typing import TextIO

from msgspec.structs import replace

from lineshaft.cli._shape import counted, size, took, value_text
from lineshaft.cli._terminal import clean, note, one_line, paint, result
from lineshaft.cli._waiting import print_paused
from lineshaft.trace import readable_line
from lineshaft.values import UNDONE_BY_CANCEL, CallRecord, Finding, RunResult, fate_of_changes

_LISTED = 20


def print_run(
    run: RunResult, *, script: str = "", name: str = "script.py", options: str = ""
) -> None:
    """Print output and value on standard output; on standard error its own, and what went wrong.

    Args:
        run: How the run ended.
        script: The script's text, to show the line of an error; empty where it is not at hand.
        name: The script's name.
        options: What a command that goes on with it needs, see `options_again`.
    """
    result(run.stdout)
    result(value_text(run.value, wide=sys.stdout.isatty()))
    if run.stderr:
        note(clean(run.stderr.rstrip("\n")))
    for stream, count in run.truncated.items():
        if count:
            note(paint(f"{size(count)} of {stream} left out", "dim"))
    if run.status == "paused":
        print_paused(run, options)
        return
    if run.status == "success":
        for finding in run.findings:
            if finding.level != "info":
                note(finding_line(finding, name))
        return
    for line in failure(run, script=script, name=name):
        note(line)


def failure(
    run: RunResult, *, script: str = "", name: str = "script.py", stream: TextIO | None = None
) -> list[str]:
    """Return the lines that say why a run did not succeed, what it had done, and one hint.

    Args:
        run: How the run ended.
        script: The script's text; empty where it is not at hand.
        name: The script's name.
        stream: Where the lines go, for colours; standard error if none is given.
    """
    blocking = [f for f in run.findings if f.level == "error"]
    if run.error is not None and run.error.code == "E_CHECK" and blocking:
        return _not_run(blocking, script=script, name=name, stream=stream)
    error = run.error
    if error is not None and error.code == "E_GUARD" and blocking and error.line is None:
        lines = _kept_from_landing(run, name, stream)
        error = None
    else:
        lines = [f"{paint(run.status, 'red', stream=stream)}: {clean(_reason(run))}"]
    if error is not None and error.line is not None:
        lines.append(f"  {clean(name)}, line {error.line}:")
        lines += _excerpt(script, error.line)
    effects = took_effect(run)
    certain = [call for call in effects if call.status in ("done", "failed")]
    for heading, calls in (
        ("These calls had taken effect:", certain),
        ("These calls were ended in the middle:", [c for c in effects if c not in certain]),
    ):
        lines += [heading] if calls else []
        lines += [f"  {readable_line(c, run.calls)}{_doubt(c)}" for c in calls[:_LISTED]]
        if len(calls) > _LISTED:
            lines.append(f"  … and {len(calls) - _LISTED:,} more")
    if error is not None and error.hint:
        lines.append(f"{paint('hint', 'yellow', stream=stream)}: {clean(error.hint)}")
    return lines


def _kept_from_landing(run: RunResult, name: str, stream: TextIO | None) -> list[str]:
    """Return the lines that say which findings of guards kept a run's changes from landing."""
    count = counted(sum(f.level == "error" for f in run.findings), "finding")
    lines = [f"{paint('error', 'red', stream=stream)}: nothing landed: {count} [E_GUARD]"]
    lines += [finding_line(f, name, stream=stream) for f in run.findings[:_LISTED] if f.path]
    if len(run.findings) > _LISTED:
        lines.append(f"  … and {len(run.findings) - _LISTED:,} more")
    return lines


def _not_run(
    findings: Sequence[Finding], *, script: str, name: str, stream: TextIO | None
) -> list[str]:
    count = counted(len(findings), "finding")
    lines = [f"{paint('error', 'red', stream=stream)}: the script was not run: {count} [E_CHECK]"]
    for finding in findings:
        shown = finding_line(replace(finding, hint=""), name, stream=stream)
        lines += [shown, *_excerpt(script, finding.line or 0)[-1:]]
    hints = dict.fromkeys(finding.hint for finding in findings if finding.hint)
    lines += [f"{paint('hint', 'yellow', stream=stream)}: {clean(hint)}" for hint in hints]
    return lines


def took_effect(run: RunResult) -> list[CallRecord]:
    """Return the calls that changed, or may have changed, something before the run ended."""
    done = {call.id for call in run.effects}
    return [call for call in run.calls if call.id in done or _was_cut_short(call)]


def finding_line(finding: Finding, name: str, *, stream: TextIO | None = None) -> str:
    """Return a finding as `script.py:3:7: error: message`, with its hint.

    Args:
        finding: What was found.
        name: The script's name.
        stream: Where the line goes, for colours; standard error if none is given.
    """
    place = ":".join(
        str(part)
        for part in (finding.path or name, finding.line, finding.column)
        if part is not None
    )
    colour = "red" if finding.level == "error" else "yellow"
    text = (
        f"{clean(place)}: {paint(finding.level, colour, stream=stream)}: {clean(finding.message)}"
    )
    code = f" [{finding.code}]"
    return f"{text}{code}\n    {clean(finding.hint)}" if finding.hint else text + code


def summary(run: RunResult) -> str:
    """Return one line that says how the run ended and what it used."""
    total = sum(run.usage.calls.values())
    parts = [f"{run.status} in {took(run.duration_ms)}"]
    if total:
        most = sorted(run.usage.calls.items(), key=lambda item: (-item[1], item[0]))[:3]
        names = ", ".join(f"{one_line(tool)} {count:,}" for tool, count in most)
        parts.append(f"{counted(total, 'call')} ({names})")
        parts.append(f"{size(run.usage.bytes_in)} in, {size(run.usage.bytes_out)} out")
    if run.usage.refused:
        parts.append(f"{run.usage.refused:,} refused")
    if run.changes and run.status != "paused" and run.landed:
        parts.append(counted(len(run.changes), "file") + " changed")
    if fate := fate_of_changes(run):
        parts.append(fate)
    return " · ".join([*parts, run.run_id])


def _reason(run: RunResult) -> str:
    if run.error is None:
        return "the run did not finish"
    return f"{run.error.message} [{run.error.code}]"


def _was_cut_short(call: CallRecord) -> bool:
    began = call.status == "cancelled" and call.duration_ms > 0
    return began and call.effect != "read" and call.staged_after is None


def _doubt(call: CallRecord) -> str:
    if call.status == "done":
        return ""
    if call.status == "cancelled" and call.tool == UNDONE_BY_CANCEL:
        return "  (cancelled: its changes of files are not kept)"
    return f"  ({call.status}: in part, or not at all)"


def _excerpt(script: str, line: int) -> list[str]:
    lines = script.split("\n")
    if not script or not 0 < line <= len(lines):
        return []
    width = len(str(line))
    return [
        f"  {'>' if number == line else ' '} {number:>{width}} | {one_line(lines[number - 1])}"
        for number in range(max(line - 2, 1), line + 1)
    ]
