"""`lineshaft undo`: takes back what a run did to files."""

import json as json_module
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lineshaft.cli._carry import carry
from lineshaft.cli._options import json_option, run_argument, settings_to_look, workspace_option
from lineshaft.cli._records import find_run
from lineshaft.cli._shape import change_line, counted
from lineshaft.cli._terminal import note, one_line, paint, result, say
from lineshaft.config import Settings, build
from lineshaft.errors import ConfigError, StateError
from lineshaft.session import Session
from lineshaft.store import Store
from lineshaft.tools import Toolset
from lineshaft.values import Undone


@run_argument
@workspace_option
@json_option
def command(*, run: str | None, workspace: Path | None, json: bool) -> None:
    """Take back all changes of files that a run landed, whole or not at all."""
    settings = settings_to_look(workspace)
    # Undo runs no user's code: no tools, no guards.
    session = build(settings, toolset=Toolset(()), guards=())
    run_id, changes, ended = carry(partial(_undo, session, settings, run))
    if json:
        told = {
            "run_id": run_id,
            "changes": [asdict(change) for change in changes],
            "already": list(changes.already),
            "cancelled": ended,
        }
        result(json_module.dumps(told, ensure_ascii=False))
        return
    for change in changes:
        say(change_line(change))
    for path in changes.already:
        note(f"{one_line(path)} was as before already: it had been undone")
    note(paint(f"{counted(len(changes), 'file')} as before {run_id}", "dim"))
    if ended:
        note("the run had not ended; it is cancelled now: it stood on what was taken back")


async def _undo(session: Session, settings: Settings, run: str | None) -> tuple[str, Undone, bool]:
    """Return the run, what is back, and whether the run waited, or its process had died."""
    async with session:
        if session.store is None:
            raise ConfigError("no runs are kept here")
        run_id = await find_run(session.store, settings, run)
        before = await _status(session.store, run_id)
        changes = await session.undo(run_id)
        after = await _status(session.store, run_id)
        return run_id, changes, before != after and after == "cancelled"


async def _status(store: Store, run_id: str) -> str:
    """Return how a run stands; nothing where its record cannot be read: undo needs none."""
    try:
        return (await store.summary(run_id)).status
    except StateError:
        return ""
