"""`lineshaft explain`: which rule decided about a call, and where it is written."""

import json as json_module
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from lineshaft.cli._options import json_option, settings_to_look, workspace_option
from lineshaft.cli._records import recorded
from lineshaft.cli._shape import call_line, took
from lineshaft.cli._terminal import clean, one_line, paint, result, say
from lineshaft.cli._timeline import answer_text
from lineshaft.errors import ConfigError
from lineshaft.values import CallRecord, Event, RunResult

_LISTED = 12


@click.argument("call", metavar="CALL", help="RUN/CALL, or the id of a call of the last run.")
@workspace_option
@json_option
def command(
    *,
    call: str,
    workspace: Path | None,
    json: bool,
) -> None:
    """Name the verdict on a call, the rule that gave it, and the file and line of the rule."""
    run, _, call_id = call.rpartition("/")
    events, outcome = recorded(settings_to_look(workspace), run or None)
    record = _find(outcome, call_id)
    own = [event for event in events if event.call_id == record.id]
    verdict = next((e.data for e in reversed(own) if e.kind == "verdict"), None)
    answers = [event for event in own if event.kind == "answer"]
    if json:
        result(json_module.dumps(_facts(outcome, record, verdict, answers), ensure_ascii=False))
        return
    say(paint(f"{record.id} {call_line(record.tool, record.arguments)}", "bold", stream=sys.stdout))
    for line in _lines(record, verdict, answers):
        say(line)


def _find(run: RunResult, call_id: str) -> CallRecord:
    found = next((call for call in run.calls if call.id == call_id), None)
    if found is None:
        ids = [one_line(call.id) for call in run.calls]
        more = " …" if len(ids) > _LISTED else ""
        raise ConfigError(
            f"run {run.run_id} has no call {call_id!r}",
            hint=f"its calls: {', '.join(ids[:_LISTED])}{more}" if ids else "it made no call",
        )
    return found


def place_of(verdict: Mapping[str, object]) -> str:
    """Return where the rule behind a verdict stands: a file and line, or in words."""
    if verdict.get("source"):
        return one_line(str(verdict["source"]))
    rule = str(verdict.get("rule", ""))
    if rule.startswith("builtin:"):
        return "built in"
    _, is_mode, mode = rule.rpartition("mode:")
    return f"mode {one_line(mode)}" if is_mode else "a rule made in code"


def _lines(
    call: CallRecord, verdict: Mapping[str, object] | None, answers: Sequence[Event]
) -> Iterator[str]:
    if verdict is None:
        yield "verdict: none; it was refused before any rule was asked"
    else:
        yield f"verdict: {one_line(str(verdict['verdict']))}"
        yield f"rule:    {one_line(str(verdict['rule']))}"
        yield f"where:   {place_of(verdict)}"
        if verdict.get("reason"):
            yield f"reason:  {clean(str(verdict['reason']))}"
    for answer in answers:
        yield f"answer:  {answer_text(answer)}  ({answer.at})"
    error = f", {call.error.code}: {one_line(call.error.message)}" if call.error else ""
    yield f"ended:   {call.status} after {took(call.duration_ms)}{error}"


def _facts(
    run: RunResult,
    call: CallRecord,
    verdict: Mapping[str, object] | None,
    answers: Sequence[Event],
) -> dict[str, object]:
    told = verdict or {}
    said = [{"at": answer.at, **answer.data} for answer in answers]
    return {
        "run_id": run.run_id,
        "call_id": call.id,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "verdict": told.get("verdict"),
        "rule": told.get("rule", call.rule),
        "reason": told.get("reason", ""),
        "source": told.get("source", ""),
        "where": place_of(verdict) if verdict else "",
        "answers": said,
        "status": call.status,
        "error": None if call.error is None else asdict(call.error),
    }
