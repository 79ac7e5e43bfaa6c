"""`lineshaft eval gate`: an exit code for CI."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lineshaft.cli._options import Json
from lineshaft.cli._terminal import clean, result, say
from lineshaft.cli.commands.eval.report import Base, Out
from lineshaft.errors import ConfigError
from lineshaft.evals import GateRules, SweepFolder, judged_sweep, judgement_lines
from lineshaft.values import DecodeError, decode, toml_table


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
        typer.Option("--rules", help="A TOML file with margins.", metavar="FILE"),
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
    margins = _rules(rules, inconclusive)
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


def _rules(path: Path | None, inconclusive: str | None) -> GateRules:
    """Return the margins of a file, and what the command line says on top.

    Raises:
        ConfigError: A key is unknown, or a value out of range.
    """
    table: dict[str, object] = {}
    try:
        if path is not None:
            table |= toml_table(path.read_text(encoding="utf-8"))
        if inconclusive is not None:
            table["inconclusive"] = inconclusive
        return decode(GateRules, table)
    except (OSError, ValueError, DecodeError) as error:
        keys = "margin, level, cheaper, dearer, most_invalid, inconclusive"
        raise ConfigError(f"rules of the gate: {error}", hint=f"keys: {keys}") from None
