"""`lineshaft show`: the record of a run."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import click

from lineshaft.cli._events import event_line
from lineshaft.cli._options import (
    json_option,
    run_argument,
    settings_for,
    settings_to_look,
    workspace_option,
)
from lineshaft.cli._records import recorded, source_of
from lineshaft.cli._report import failure, summary
from lineshaft.cli._shape import MARKS, brief, call_line, counted, took, value_text
from lineshaft.cli._started import Started, changes_since, recall
from lineshaft.cli._terminal import clean, one_line, paint, result, say
from lineshaft.cli._timeline import Timeline
from lineshaft.cli._tree import DROPPED
from lineshaft.errors import ConfigError
from lineshaft.trace import readable_line
from lineshaft.values import (
    CallRecord,
    Change,
    Event,
    Pending,
    RunResult,
    fate_of_changes,
    is_dropped,
)


@run_argument
@click.option("--events", is_flag=True, help="Print the record itself, one event a line.")
@workspace_option
@json_option
def command(
    *,
    run: str | None,
    events: bool,
    workspace: Path | None,
    json: bool,
) -> None:
    """Show how a run went, from its record."""
    settings = settings_to_look(workspace)
    told, outcome = recorded(settings, run)
    if events:
        result("\n".join(event_line(event) for event in told))
    elif json:
        result(outcome.json())
    else:
        begun = recall(outcome.run_id)
        source = source_of(settings, outcome)
        facts = begun_lines(begun, workspace) if begun else ()
        for line in lines(outcome, told, begun=facts, source=source):
            say(line)


def begun_lines(begun: Started, workspace: Path | None) -> list[str]:
    """Return the lines that name the tools and settings files that a run began with.

    Args:
        begun: What it began with.
        workspace: What the command line said of it.
    """
    changed: dict[str, str] = {}
    with suppress(ConfigError):  # settings that cannot be used: a note has said so
        now = settings_for(workspace, tools=begun.tools)
        changed = {each.name: each.what for each in changes_since(begun, now)}

    def named(files: Iterable[str]) -> str:
        since = {file: f" ({changed[file]} since)" if file in changed else "" for file in files}
        return ", ".join(f"{one_line(file, 1_000)}{text}" for file, text in since.items())

    told = [("tools", [*begun.tools, *begun.modules]), ("settings", list(begun.settings))]
    return [f"{name} {named(files)}" for name, files in told if files]


def lines(
    run: RunResult,
    events: Sequence[Event],
    *,
    begun: Iterable[str] = (),
    source: tuple[str, str] = ("script.py", ""),
) -> Iterator[str]:
    """Yield the lines that tell a run: its start, calls, changes, output, value and end.

    Args:
        run: What the events add up to.
        events: The record.
        begun: The tools and settings that it began with, a line each.
        source: The name of its script, and the text where it is at hand.
    """
    yield paint(summary(run), "bold", stream=sys.stdout)
    first = events[0]
    facts = [first.at]
    facts += [
        f"{name} {one_line(str(first.data[name]))}"
        for name in ("name", "engine", "mode", "origin")
        if first.data.get(name)
    ]
    yield paint(" · ".join(facts), "dim", stream=sys.stdout)
    for fact in begun:
        yield paint(fact, "dim", stream=sys.stdout)
    yield from _way(run, Timeline(events))
    for change in run.changes:
        yield _change(change, waits=run.status == "paused")
    if fate := fate_of_changes(run):
        yield f"  {fate}"
    for each in run.pending:
        yield _waiting(each)
    for name, text in (
        ("output", run.stdout),
        ("errors", run.stderr),
        ("value", value_text(run.value, wide=True)),
    ):
        if text:
            yield f"{paint(name, 'bold', stream=sys.stdout)}:"
            yield clean(text.rstrip("\n"))
    if run.status == "paused":
        until = f" until {one_line(run.expires_at)}" if run.expires_at else ""
        count = len(run.pending)
        verb = "waits" if count == 1 else "wait"
        yield f"  paused: {counted(count, 'call')} {verb}{until}; `lineshaft resume {run.run_id}`"
    elif run.status != "success":
        name, script = source
        yield from failure(run, script=script, name=name, stream=sys.stdout)


def _way(run: RunResult, timeline: Timeline) -> Iterator[str]:
    """Yield the calls in their order, and between them where the run stood still."""
    depths: dict[str, int] = {}
    for call in run.calls:
        yield from (_halt(*halt) for halt in timeline.halts(before=call.id))
        depths[call.id] = depths.get(call.parent or "", -1) + 1
        dropped = f"  ({DROPPED})" if is_dropped(call, run) else ""
        line = readable_line(call, run.calls, tokens=timeline.tokens(call.id))
        yield f"{timeline.since_start(call.id):>9}{_call(call, depths[call.id], line)}{dropped}"
        for answer in timeline.answers(call.id):
            yield f"{'':>9}{'  ' * (depths[call.id] + 2)}{answer}"
    yield from (_halt(*halt) for halt in timeline.halts())


def _halt(at: str, what: str) -> str:
    return paint(f"{'':>9}  {at}  {what}", "dim", stream=sys.stdout)


def _call(call: CallRecord, depth: int, line: str) -> str:
    head = f"{'  ' * (depth + 1)}{MARKS[call.status]} {line}"
    rule = f"  [{one_line(call.rule)}]" if call.rule else ""
    error = f"  {call.error.code}: {one_line(call.error.message)}" if call.error else ""
    return f"{head}  {took(call.duration_ms)}{paint(rule, 'dim', stream=sys.stdout)}{error}"


def _change(change: Change, *, waits: bool) -> str:
    source = f" from {brief(change.moved_from)}" if change.moved_from else ""
    path = one_line(change.path)
    undo = "" if change.undoable else ", waits with the run" if waits else ", cannot be undone"
    stage = f"  stage {change.stage}{undo}" if change.stage else ""
    return f"  {change.kind} {path}{one_line(source)}  +{change.added} -{change.removed}{stage}"


def _waiting(each: Pending) -> str:
    reason = f": {one_line(each.reason)}" if each.reason else ""
    return f"  waits: {each.id} {call_line(each.tool, each.arguments)}{reason}"
