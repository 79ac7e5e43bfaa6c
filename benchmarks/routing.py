"""The router against both pure settings, one task left out at a time: arithmetic of tokens.

Fixed plans act and no model: a plan makes direct calls where it has the tools, and writes its
script where it has not. `calls known` is the catalogue with the number of calls that the task
takes; where nothing is known, the router is the pure script. The record that the router reads is
that of the other tasks' scripts, as a new task would find it (`left out`); and that of earlier runs
of the same task, as repeated work would (`own record`). The bounds of the router come from
published comparisons and are not fitted to these tasks.
"""

import asyncio
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lineshaft.evals import (
    CellResult,
    EvalTask,
    SweepFolder,
    found_tasks,
    offline_tokeniser,
    planned,
    run_sweep,
    variants_of,
)
from lineshaft.session import habits_of, route_of
from lineshaft.values import Event, decode

REPEATS = 2
"""Of each other task in the record; 18 tasks twice are more than the 20 runs it takes."""

OWN = 20
"""Earlier runs of the same task."""


@dataclass(slots=True)
class Measured:
    """The tokens of one task by the way its plan went."""

    task: str
    kind: str
    tokens: dict[str, int] = field(default_factory=dict[str, int])


async def cells(
    tasks: Sequence[EvalTask], axes: Sequence[str], place: Path
) -> dict[tuple[str, str], tuple[CellResult, list[list[Event]]]]:
    """Run tasks with variants once; return each cell with its recorded scripts."""
    tokeniser = offline_tokeniser()
    plan = planned(
        tasks,
        variants_of(axes),
        repeats=1,
        model="scripted",
        tokeniser=tokeniser.name,
        slip_rate=0,
    )
    folder = SweepFolder(place)
    await run_sweep(plan, tasks, folder, tokeniser=tokeniser)
    found: dict[tuple[str, str], tuple[CellResult, list[list[Event]]]] = {}
    for cell in folder.results().values():
        lines = (place / cell.bundle / "events.jsonl").read_text(encoding="utf-8").splitlines()
        events: dict[str, list[Event]] = {}
        for line in lines:
            event = decode(Event, json.loads(line))
            events.setdefault(event.run_id, []).append(event)
        found[cell.task, cell.variant] = cell, list(events.values())
    return found


def spent(cell: CellResult) -> int:
    """Return a cell's tokens; a plan that does not pass is an error of this program."""
    if cell.outcome != "pass":
        raise RuntimeError(f"{cell.task} {cell.variant}: {cell.outcome}: {cell.reason}")
    return cell.input_tokens + cell.output_tokens


async def measured(place: Path) -> list[Measured]:
    """Run all that is needed."""
    tasks = found_tasks(["all"])
    off = await cells(tasks, ["script=off"], place / "off")
    on = await cells(tasks, ["direct=none,all"], place / "on")
    records = {task.name: on[task.name, "direct=none"][1] for task in tasks}
    names = {task.name: tools_of(on[task.name, "direct=all"][0], place / "on") for task in tasks}
    rows: list[Measured] = []
    for task in tasks:
        row = Measured(task.name, task.kind)
        row.tokens["direct"] = spent(off[task.name, "script=off"][0])
        row.tokens["script"] = spent(on[task.name, "direct=none"][0])
        others = [
            record
            for other in tasks
            if other.name != task.name
            for record in records[other.name] * REPEATS
        ]
        own = names[task.name]
        calls = off[task.name, "script=off"][0].calls
        for way, route in (
            ("calls known", route_of(own, own, calls=calls)),
            ("left out", route_of(own, own, habits=habits_of(others))),
            ("own record", route_of(own, own, habits=habits_of(records[task.name] * OWN))),
        ):
            row.tokens[way] = await routed(task, route.direct, place / f"{task.name} {way}")
        rows.append(row)
    return rows


def tools_of(cell: CellResult, place: Path) -> tuple[str, ...]:
    """Return the tools of a task, by canonical name, from what its session said of them."""
    text = (place / cell.bundle / "conversation.json").read_text(encoding="utf-8")
    first = json.loads(text)[0]["text"].partition("Tools: ")[2].partition(". Policy mode")[0]
    return tuple(name.replace("__", ".") for name in first.split(", "))


async def routed(task: EvalTask, direct: Iterable[str], place: Path) -> int:
    """Return the tokens of a task with some direct tools."""
    axis = f"direct={'+'.join(direct) or 'none'}"
    [(cell, _)] = (await cells([task], [axis], place)).values()
    return spent(cell)


def lines_of(rows: Sequence[Measured]) -> list[str]:
    """Return the table."""
    ways = list(rows[0].tokens)
    lines = [
        "SCRIPTED: fixed plans acted, no model. Tokens in and out of a task solved once.",
        f"| task | kind | {' | '.join(ways)} |",
        f"| --- | --- |{' ---: |' * len(ways)}",
    ]
    kinds = ("win", "neutral", "lose")
    for row in sorted(rows, key=lambda each: kinds.index(each.kind)):
        numbers = " | ".join(f"{row.tokens[way]:,}" for way in ways)
        lines.append(f"| `{row.task}` | {row.kind} | {numbers} |")
    totals = {way: sum(row.tokens[way] for row in rows) for way in ways}
    lines.append(f"| all | | {' | '.join(f'{totals[way]:,}' for way in ways)} |")
    best = sum(min(row.tokens["direct"], row.tokens["script"]) for row in rows)
    lines.append(f"The better of both pure settings for each task: {best:,}.")
    return lines


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        for line in lines_of(asyncio.run(measured(Path(place)))):
            print(line)


if __name__ == "__main__":
    main()
