"""`lineshaft undo`: takes back what a run did to files."""

import json as json_module
from dataclasses import asdict
from functools import partial

from lineshaft.cli._carry import carry
from lineshaft.cli._options import Json, RunId, Workspace, settings_for
from lineshaft.cli._records import find_run
from lineshaft.cli._shape import change_line, counted
from lineshaft.cli._terminal import note, one_line, paint, result, say
from lineshaft.config import Settings, build
from lineshaft.errors import ConfigError
from lineshaft.session import Session
from lineshaft.tools import Toolset
from lineshaft.values import Undone


def command(
    *,
    run: RunId = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Take back all changes of files that a run landed, whole or not at all."""
    settings = settings_for(workspace)
    # Undo runs no user's code: no tools, no guards.
    session = build(settings, toolset=Toolset(()), guards=())
    run_id, changes = carry(partial(_undo, session, settings, run))
    if json:
        told = {
            "run_id": run_id,
            "changes": [asdict(change) for change in changes],
            "already": list(changes.already),
        }
        result(json_module.dumps(told, ensure_ascii=False))
        return
    for change in changes:
        say(change_line(change))
    for path in changes.already:
        note(f"{one_line(path)} was as before already: somebody had undone it")
    note(paint(f"{counted(len(changes), 'file')} as before {run_id}", "dim"))


async def _undo(session: Session, settings: Settings, run: str | None) -> tuple[str, Undone]:
    async with session:
        if session.store is None:
            raise ConfigError("no runs are kept here")
        run_id = await find_run(session.store, settings, run)
        return run_id, await session.undo(run_id)
