"""`lineshaft eval report`: what a sweep has found so far."""

import json as json_module
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lineshaft.cli._options import Json
from lineshaft.cli._terminal import clean, note, one_line, result, say
from lineshaft.evals import SweepFolder, SweepSummary, page_of, summarised, table_lines
from lineshaft.files import write_whole

Out = Annotated[
    Path, typer.Option("--out", help="The folder of the sweep.", metavar="DIR", file_okay=False)
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base", help="The variant that others are compared with; the last one.", metavar="VARIANT"
    ),
]


def command(*, out: Out = Path("eval"), base: Base = None, json: Json = False) -> None:
    """Show the numbers of a sweep, and write its page."""
    folder = SweepFolder(out.absolute())
    show(write_report(folder, base=base), json=json)
    if not json:
        note(f"The page: {one_line(str(out / 'report.html'), 1_000)}")


def write_report(folder: SweepFolder, *, base: str | None) -> SweepSummary:
    """Write a sweep's `report.json` and `report.html`, and return its numbers.

    Raises:
        ConfigError: There is no such sweep or variant.
    """
    summary = summarised(folder.plan(), folder.results(), base=base)
    data = json_module.dumps(asdict(summary), indent=1, ensure_ascii=False)
    write_whole(folder.place / "report.json", data.encode("utf-8", "replace"))
    page = page_of(summary, folder.place)
    write_whole(folder.place / "report.html", page.encode("utf-8", "replace"))
    return summary


def show(summary: SweepSummary, *, json: bool) -> None:
    """Print a sweep's numbers."""
    if json:
        result(json_module.dumps(asdict(summary), ensure_ascii=False))
    else:
        for line in table_lines(summary):
            say(clean(line))
