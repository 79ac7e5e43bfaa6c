"""`lineshaft runs prune`: what was kept long enough goes."""

import json as json_module
from dataclasses import asdict
from typing import Annotated

import typer

from lineshaft.cli._options import Json, Workspace, settings_for
from lineshaft.cli._records import look
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, paint, result
from lineshaft.store import Pruned, Store


def command(
    *,
    days: Annotated[
        float | None,
        typer.Option("--days", help="Also forget runs that ended so long ago.", metavar="N", min=0),
    ] = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Delete what can no longer be resumed or replayed; records stay unless --days says so."""

    async def prune(store: Store) -> Pruned:
        return await store.prune(days=days)

    gone = look(settings_for(workspace), prune)
    if json:
        result(json_module.dumps(asdict(gone)))
        return
    records, states = counted(gone.records, "record"), counted(gone.states, "run state")
    note(paint(f"deleted: {records}, {states}, of all workspaces", "dim"))
