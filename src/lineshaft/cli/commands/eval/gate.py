"""`lineshaft eval gate`: an exit code for CI."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lineshaft.cli._evaluation import gate_rules, given_rules
from lineshaft.cli._options import Json, settings_for
from lineshaft.cli._terminal import clean, note, result, say
from lineshaft.cli.commands.eval.report import Base, Out
from lineshaft.evals import SweepFolder, judged_sweep, judgement_lines


def command(
    *,
    out: Out = Path("eval"),
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="The variant that is judged; the first.", metavar="VARIANT"),
    ] = None,
    base: Base = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            help="The log.jsonl of another sweep, with at least 100 runs.",
            metavar="FILE",
        ),
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option(
            "--rules", help="A TOML file with margins, before those of [eval].", metavar="FILE"
        ),
    ] = None,
    inconclusive: Annotated[
        str | None,
        typer.Option("--inconclusive", help="pass or fail, where runs are not enough."),
    ] = None,
    scripted: Annotated[
        bool, typer.Option("--scripted", help="Judge scripted policies, to try the gate out.")
    ] = False,
    json: Json = False,
) -> None:
    """Exit 0 (better, no worse), 1 (worse), 2 (usage) or 6 (not enough runs)."""
    settings = settings_for()
    for line in given_rules(settings):
        note(clean(line))
    margins = gate_rules(settings, path=rules, inconclusive=inconclusive)
    judged = judged_sweep(
        SweepFolder(out.absolute()),
        variant=variant,
        base=base,
        baseline=baseline,
        rules=margins,
        scripted=scripted,
    )
    code = judged.exit_code(margins)
    if json:
        result(json_module.dumps({**asdict(judged), "exit": code}, ensure_ascii=False))
    else:
        if scripted:
            say("SCRIPTED: this tries the gate out, and says nothing of a model.")
        for line in judgement_lines(judged):
            say(clean(line))
    raise typer.Exit(code)
