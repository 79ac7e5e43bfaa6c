"""`lineshaft show`: the record of a run."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from lineshaft.cli._options import Json, Workspace, settings_for
from lineshaft.cli._records import find_record, read_record, records_folder
from lineshaft.cli._report import failure, summary
from lineshaft.cli._shape import MARKS, brief, call_line, took, value_text
from lineshaft.cli._terminal import clean, one_line, paint, result, say
from lineshaft.values import CallRecord, Change, Event, RunResult


def command(
    *,
    run: Annotated[
        str | None, typer.Argument(help="The run's id, or its beginning.", metavar="RUN")
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", help="Print the record itself, one event a line.")
    ] = False,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show how a run went, from its record."""
    path = find_record(records_folder(settings_for(workspace).root), run)
    recorded, outcome = read_record(path)
    if events:
        result(path.read_text("utf-8", errors="replace"))
    elif json:
        result(outcome.json())
    else:
        for line in lines(outcome, recorded):
            say(line)


def lines(run: RunResult, events: Sequence[Event]) -> Iterator[str]:
    """Yield the lines that tell a run: its start, calls, changes, output, value and end.

    Args:
        run: What the events add up to.
        events: The record.
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
    depths: dict[str, int] = {}
    for call in run.calls:
        depths[call.id] = depths.get(call.parent or "", -1) + 1
        yield _call(call, depths[call.id])
    for change in run.changes:
        yield _change(change)
    for name, text in (
        ("output", run.stdout),
        ("errors", run.stderr),
        ("value", value_text(run.value, wide=True)),
    ):
        if text:
            yield f"{paint(name, 'bold', stream=sys.stdout)}:"
            yield clean(text.rstrip("\n"))
    if run.status != "success":
        yield from failure(run, stream=sys.stdout)


def _call(call: CallRecord, depth: int) -> str:
    head = f"{'  ' * (depth + 1)}{MARKS[call.status]} {call_line(call.tool, call.arguments)}"
    rule = f"  [{one_line(call.rule)}]" if call.rule else ""
    error = f"  {call.error.code}: {one_line(call.error.message)}" if call.error else ""
    return f"{head}  {took(call.duration_ms)}{paint(rule, 'dim', stream=sys.stdout)}{error}"


def _change(change: Change) -> str:
    source = f" from {brief(change.moved_from)}" if change.moved_from else ""
    path = one_line(change.path)
    return f"  {change.kind} {path}{one_line(source)}  +{change.added} -{change.removed}"
