"""`lineshaft replay`: executes a run's script again, over its recorded results."""

import json as json_module
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lineshaft.cli._ahead import announce
from lineshaft.cli._carry import carry
from lineshaft.cli._needs import words_of_run
from lineshaft.cli._offer import offered_for
from lineshaft.cli._options import (
    accept_changed_option,
    json_option,
    run_argument,
    tools_option,
    workspace_option,
)
from lineshaft.cli._records import find_run
from lineshaft.cli._shape import call_line, counted
from lineshaft.cli._started import settings_again
from lineshaft.cli._terminal import clean, one_line, paint, result, say
from lineshaft.config import Settings, build
from lineshaft.errors import ConfigError
from lineshaft.session import Session
from lineshaft.values import CallRecord, Replay

DIFFERS = 1


@run_argument
@tools_option
@accept_changed_option
@workspace_option
@json_option
def command(
    *,
    run: str | None,
    tools: tuple[str, ...],
    accept_changed: bool,
    workspace: Path | None,
    json: bool,
) -> None:
    """Execute a run's script against its record, without effects; name the first difference."""
    settings = settings_again(
        run, workspace, tools=tools, accept_changed=accept_changed, acts=False
    )
    words = words_of_run(settings, run, replayed=True)
    offered = offered_for(settings, words=words)
    session = build(settings, toolset=offered.all, guards=(), secrets=offered.secrets)
    announce()
    replay = carry(partial(_replay, session, settings, run))
    if json:
        result(json_module.dumps(asdict(replay), ensure_ascii=False))
    else:
        _tell(replay)
    raise SystemExit(DIFFERS if replay.difference else 0)


async def _replay(session: Session, settings: Settings, run: str | None) -> Replay:
    async with session:
        if session.store is None:
            raise ConfigError("no runs are kept here")
        run_id = await find_run(session.store, settings, run)
        return await session.replay(run_id)


def _tell(replay: Replay) -> None:
    difference, out = replay.difference, sys.stdout
    if difference is None:
        count = counted(len(replay.run.calls), "call")
        say(f"{paint('same', 'green', stream=out)}: {count}, output and value as recorded")
        return
    say(f"{paint('differs', 'red', stream=out)}: {clean(difference.message)}")
    for name, call in (("recorded", difference.expected), ("now", difference.call)):
        say(f"  {name:<9} {_call(call)}")


def _call(call: CallRecord | None) -> str:
    if call is None:
        return "no such call"
    return f"{one_line(call.id)} {call_line(call.tool, call.arguments)}"
