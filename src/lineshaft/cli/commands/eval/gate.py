"""`lineshaft eval gate`: an exit code for CI."""

import json as json_module
from dataclasses import asdict
from pathlib import Path

import click

from lineshaft.cli._evaluation import gate_rules, given_rules
from lineshaft.cli._options import json_option, settings_for
from lineshaft.cli._terminal import clean, note, result, say
from lineshaft.cli.commands.eval.report import base_option, folder_of, out_option, sweep_argument
from lineshaft.evals import SweepFolder, judged_sweep, judgement_lines


@sweep_argument
@out_option
@click.option("--variant", metavar="VARIANT", help="The variant that is judged; the first.")
@base_option
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The log.jsonl of another sweep, with at least 100 runs.",
)
@click.option(
    "--rules",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with margins, before those of [eval].",
)
@click.option(
    "--inconclusive",
    type=click.Choice(["pass", "fail"]),
    help="What the gate says where runs are not enough.",
)
@click.option("--scripted", is_flag=True, help="Judge scripted policies, to try the gate out.")
@json_option
def command(
    *,
    sweep: Path | None,
    out: Path | None,
    variant: str | None,
    base: str | None,
    baseline: Path | None,
    rules: Path | None,
    inconclusive: str | None,
    scripted: bool,
    json: bool,
) -> None:
    """Exit 0 (better, no worse), 1 (worse), 2 (usage) or 6 (not enough runs)."""
    folder, settings = folder_of(sweep, out), settings_for()
    for line in given_rules(settings):
        note(clean(line))
    margins = gate_rules(settings, path=rules, inconclusive=inconclusive)
    judged = judged_sweep(
        SweepFolder(folder.absolute()),
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
    raise SystemExit(code)
