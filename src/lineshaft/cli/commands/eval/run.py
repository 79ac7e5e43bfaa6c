"""`lineshaft eval run`: tasks with variants, repeated, one cell at a time."""

import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast

import click

from lineshaft.cli._carry import carry
from lineshaft.cli._evaluation import gate_rules, price_table
from lineshaft.cli._options import json_option, quiet_option, settings_for
from lineshaft.cli._terminal import note, one_line, paint
from lineshaft.cli.commands.eval.report import folder_of, out_option, tell, write_report
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


@click.pass_context
@click.argument(
    "tasks",
    nargs=-1,
    required=True,
    metavar="TASK...",
    help="Tasks by name, folders of your own, a kind (win, neutral, lose), or all.",
)
@click.option(
    "--variants",
    multiple=True,
    metavar="AXIS=A,B",
    help="An axis with its values: script, engine, mode, prompt, model or direct.",
)
@click.option(
    "--repeats",
    "-n",
    type=int,
    default=5,
    show_default=True,
    help="Runs of each task with each variant.",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="openai:NAME, ollama:NAME, URL#NAME, or scripted: fixed plans, no model.",
)
@out_option
@click.option(
    "--tasks-from",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder with tasks of your own.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with a date and prices; else eval.prices.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of the runs.")
@click.option(
    "--slips",
    type=float,
    default=0.1,
    show_default=True,
    help="Share of the runs that scripted policies fail.",
)
@click.option("--again", is_flag=True, help="Carry out invalid runs once more.")
@quiet_option
@json_option
def command(
    context: click.Context,
    *,
    tasks: tuple[str, ...],
    variants: tuple[str, ...],
    repeats: int,
    model: str | None,
    out: Path | None,
    tasks_from: tuple[Path, ...],
    prices: Path | None,
    seed: int,
    slips: float,
    again: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Run what is left of a sweep, and write its report."""
    model = model or os.environ.get("LINESHAFT_MODEL")
    if not model:
        hint = "name one by --model; --model scripted needs no key"
        raise ConfigError("there is no model", hint=hint)
    settings = settings_for()
    rules = gate_rules(settings)
    chosen = found_tasks(tasks, folders=tasks_from)
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
    place = folder_of(None, out)
    folder = SweepFolder(place.absolute())
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
    tell(write_report(folder, base=None, rules=rules), place, json=json)


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
