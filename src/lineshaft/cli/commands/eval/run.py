"""`lineshaft eval run`: tasks with variants, repeated, one cell at a time."""

import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, cast

import typer

from lineshaft.cli._carry import carry
from lineshaft.cli._evaluation import gate_rules, price_table
from lineshaft.cli._options import Json, Quiet, settings_for
from lineshaft.cli._terminal import note, one_line, paint
from lineshaft.cli.commands.eval.report import Out, tell, write_report
from lineshaft.errors import ConfigError
from lineshaft.evals import (
    CellResult,
    SweepFolder,
    SweepPlan,
    cells_of,
    found_tasks,
    offline_tokeniser,
    planned,
    run_sweep,
    variants_of,
)


def command(
    context: typer.Context,
    *,
    tasks: Annotated[
        list[str],
        typer.Argument(
            help="Tasks by name, folders of your own, a kind (win, neutral, lose), or all.",
            metavar="TASK...",
        ),
    ],
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variants",
            help="An axis with its values: script, engine, mode, prompt, model or direct.",
            metavar="AXIS=A,B",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", "-n", help="Runs of each task with each variant.")
    ] = 5,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="openai:NAME, ollama:NAME, URL#NAME, or scripted: fixed plans, no model.",
            metavar="MODEL",
        ),
    ] = None,
    out: Out = Path("eval"),
    tasks_from: Annotated[
        list[Path] | None,
        typer.Option("--tasks-from", help="A folder with tasks of your own.", metavar="DIR"),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices", help="A TOML file with a date and prices; else eval.prices.", metavar="FILE"
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the order of the runs.")] = 0,
    slips: Annotated[
        float, typer.Option("--slips", help="Share of the runs that scripted policies fail.")
    ] = 0.1,
    again: Annotated[
        bool, typer.Option("--again", help="Carry out invalid runs once more.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run what is left of a sweep, and write its report."""
    model = model or os.environ.get("LINESHAFT_MODEL")
    if not model:
        hint = "name one by --model; --model scripted needs no key"
        raise ConfigError("there is no model", hint=hint)
    settings = settings_for()
    rules = gate_rules(settings)
    chosen = found_tasks(tasks, folders=tasks_from or ())
    tokeniser = offline_tokeniser()
    plan = planned(
        chosen,
        variants_of(variants or ["script=on,off"]),
        repeats=repeats,
        model=model,
        tokeniser=tokeniser.name,
        seed=seed,
        slip_rate=slips,
        prices=price_table(settings, path=prices),
    )
    folder = SweepFolder(out.absolute())
    work = partial(
        run_sweep,
        plan,
        chosen,
        folder,
        tokeniser=tokeniser,
        progress=None if quiet else _tell,
        again=again,
    )
    try:
        end = carry(work)
    except KeyboardInterrupt:
        _tell_kept(plan, folder, cast("Sequence[str]", context.obj))
        raise
    if end.done:
        note(f"{end.done} of {end.cells} cells were run, {end.found} were finished before.")
    else:
        note(f"All {end.cells} cells were finished before; nothing was run again.")
    tell(write_report(folder, base=None, rules=rules), out, json=json)


def _tell(number: int, of: int, cell: CellResult) -> None:
    colour = "green" if cell.outcome == "pass" else "red"
    outcome = paint(cell.outcome, colour, stream=sys.stderr)
    why = f": {cell.reason}" if cell.reason and cell.outcome != "pass" else ""
    name = f"{cell.task} {cell.variant} #{cell.repeat}"
    note(f"{number}/{of}  {one_line(name)}  {outcome}  {cell.wall_seconds:.1f} s{one_line(why)}")


def _tell_kept(plan: SweepPlan, folder: SweepFolder, words: Sequence[str]) -> None:
    """Say what a sweep that was stopped by a person has kept, and how it goes on."""
    cells = cells_of(plan)
    finished = folder.results().keys()
    kept = sum(cell.key in finished for cell in cells)
    note(f"{kept} of {len(cells)} cells are finished and kept. This goes on with the rest:")
    note(f"  {one_line(shlex.join(['lineshaft', *words]), 10_000)}")
