"""`lineshaft show`: the record of a run."""

import sys
from typing import Annotated

import typer

from lineshaft.cli._options import Json, Workspace, settings_for
from lineshaft.cli._records import find_record, read_record, records_folder
from lineshaft.cli._report import record_lines
from lineshaft.cli._terminal import result


def command(
    *,
    run: Annotated[
        str | None, typer.Argument(help="The run's id, or its beginning.", show_default=False)
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
        for line in record_lines(outcome, recorded, stream=sys.stdout):
            result(line)
