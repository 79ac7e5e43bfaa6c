"""`lineshaft eval report`: what a sweep has found so far."""

import json as json_module
from dataclasses import asdict
from pathlib import Path

import click

from lineshaft.cli._evaluation import gate_rules
from lineshaft.cli._options import json_option, settings_for
from lineshaft.cli._terminal import clean, note, one_line, paint, result, say
from lineshaft.errors import ConfigError
from lineshaft.evals import (
    GateRules,
    SweepFolder,
    SweepSummary,
    nothing_valid,
    page_of,
    summarised,
    table_lines,
)

sweep_argument = click.argument(
    "sweep",
    required=False,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="[DIR]",
    help="The folder of the sweep; `eval` if left out.",
)
out_option = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the sweep; `eval` if left out.",
)
base_option = click.option(
    "--base", metavar="VARIANT", help="The variant that others are compared with; the last one."
)


@sweep_argument
@out_option
@base_option
@json_option
def command(*, sweep: Path | None, out: Path | None, base: str | None, json: bool) -> None:
    """Show the numbers of a sweep, and write its page."""
    folder = folder_of(sweep, out)
    rules = gate_rules(settings_for())
    tell(write_report(SweepFolder(folder.absolute()), base=base, rules=rules), folder, json=json)


def folder_of(sweep: Path | None, out: Path | None) -> Path:
    """Return the folder of a sweep, given as an argument or by `--out`.

    Raises:
        ConfigError: Both are given, and differ.
    """
    if sweep is not None and out is not None and sweep.absolute() != out.absolute():
        raise ConfigError(
            f"two folders are given: {str(sweep)!r} and --out {str(out)!r}", hint="give one of them"
        )
    return sweep or out or Path("eval")


def write_report(folder: SweepFolder, *, base: str | None, rules: GateRules) -> SweepSummary:
    """Write a sweep's `report.json` and `report.html`, and return its numbers.

    Raises:
        ConfigError: There is no such sweep or variant, or its folder cannot be written.
    """
    summary = summarised(folder.plan(), folder.results(), base=base, rules=rules)
    data = json_module.dumps(asdict(summary), indent=1, ensure_ascii=False)
    folder.write_report("report.json", data)
    folder.write_report("report.html", page_of(summary, folder.place))
    return summary


def tell(summary: SweepSummary, out: Path, *, json: bool) -> None:
    """Print a sweep's numbers.

    Raises:
        SystemExit: 1: no cell is valid, so that there are no numbers.
    """
    if json:
        result(json_module.dumps(asdict(summary), ensure_ascii=False))
    else:
        for line in table_lines(summary):
            say(clean(line))
        note(f"The page: {one_line(str(out / 'report.html'), 1_000)}")
    if invalid := nothing_valid(summary):
        note(f"{paint('error', 'red')}: {one_line(invalid, 1_000)}")
        note(f"{paint('hint', 'yellow')}: mend that, then run the same command with --again")
        raise SystemExit(1)
