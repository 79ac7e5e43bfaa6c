"""`lineshaft runs prune`: what was kept long enough goes."""

import json as json_module
import os
from collections.abc import Collection
from pathlib import Path

import click

from lineshaft.cli._options import json_option, settings_to_look, workspace_option
from lineshaft.cli._records import look
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.config import refuse_unusable_store, store_of
from lineshaft.errors import WorkspaceError
from lineshaft.files import state_folder
from lineshaft.store import Pruned, Store
from lineshaft.workspace import forget_landings


@click.option(
    "--days",
    type=float,
    metavar="N",
    help="Also forget runs that ended so long ago.",
)
@workspace_option
@json_option
def command(
    *,
    days: float | None,
    workspace: Path | None,
    json: bool,
) -> None:
    """Delete what was kept long enough, and with --days records of runs and all that is theirs."""

    async def prune(store: Store) -> Pruned:
        return await store.prune(days=days)

    settings = settings_to_look(workspace)
    refuse_unusable_store(settings)  # days that are not known must not become fewer
    gone = look(settings, prune)
    landings = _landings(store_of(settings).keep_days, gone.run_ids)
    if json:
        told = {"records": gone.records, "states": gone.states, "landings": landings}
        result(json_module.dumps(told))
        return
    what = ("record", gone.records), ("run state", gone.states), ("landing", landings)
    said = ", ".join(counted(number, name) for name, number in what)
    note(paint(f"deleted: {said}, of all workspaces", "dim"))


def _landings(keep_days: float, run_ids: Collection[str]) -> int:
    """Drop the contents of landings that can no longer be undone; return their number."""
    dropped = 0
    for folder in _folders():
        try:
            dropped += forget_landings(folder, keep_days=keep_days, run_ids=run_ids)
        except WorkspaceError as error:
            cause = error.__cause__
            why = os.strerror(cause.errno or 0) if isinstance(cause, OSError) else error.message
            what = f"landings in {folder} are not deleted: {why}"
            note(f"{paint('warning', 'yellow')}: {one_line(what, 500)}")
    return dropped


def _folders() -> list[Path]:
    """Return the folders of journals, one for each workspace."""
    try:
        return sorted(each for each in (state_folder() / "workspaces").iterdir() if each.is_dir())
    except FileNotFoundError:
        return []
