"""`lineshaft call`: one tool, under the same policy as a script."""

import json as json_module
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NoReturn, cast

import click

from lineshaft.cli import _completion
from lineshaft.cli._approver import approver_for
from lineshaft.cli._carry import SignalHandling, carry
from lineshaft.cli._display import Display, Notices, Silent
from lineshaft.cli._elicit import TerminalElicit
from lineshaft.cli._events import EventPrinter
from lineshaft.cli._keyboard import can_ask
from lineshaft.cli._models_used import ModelsUsed
from lineshaft.cli._offer import offered_for, refuse_lacks, tell_down
from lineshaft.cli._options import (
    accept_claims_option,
    guards_for,
    json_option,
    mode_option,
    options_again,
    settings_for,
    tools_option,
    workspace_option,
)
from lineshaft.cli._pairs import read_pairs
from lineshaft.cli._records import store_for
from lineshaft.cli._shape import change_line, counted, value_text
from lineshaft.cli._shown import shown, without_secrets
from lineshaft.cli._started import remember, started_with
from lineshaft.cli._terminal import clean, note, paint, result
from lineshaft.cli._waiting import print_waiting
from lineshaft.config import Settings, build
from lineshaft.session import Session
from lineshaft.values import CallError, CallResult, Limits, Origin

_LISTED = 20


@click.argument("tool", shell_complete=_completion.tools, metavar="TOOL", help="The tool's name.")
@click.argument(
    "arguments",
    nargs=-1,
    metavar="[K=V]...",
    help="k=text, or k:=json for numbers, lists and the like.",
)
@tools_option
@mode_option
@workspace_option
@accept_claims_option
@json_option
def command(
    *,
    tool: str,
    arguments: tuple[str, ...],
    tools: tuple[str, ...],
    mode: str | None,
    workspace: Path | None,
    accept_claims: bool,
    json: bool,
) -> None:
    """Call one tool and print what it returns."""
    settings = settings_for(workspace, tools=tools, mode=mode)
    call_one(
        settings,
        tool,
        read_pairs(arguments),
        limits=settings.limits(),
        again=options_again(workspace),
        accept_claims=accept_claims,
        json=json,
    )


def call_one(
    settings: Settings,
    tool: str,
    given: Mapping[str, object],
    *,
    limits: Limits,
    seconds: float | None = None,
    again: str = "",
    accept_claims: bool = False,
    display: Display | None = None,
    origin: Origin = "shell",
    events: bool = False,
    quiet: bool = False,
    json: bool = False,
) -> NoReturn:
    """Make one call, print its result, and leave with its exit code.

    Args:
        settings: What holds.
        tool: The tool's name.
        given: Its arguments.
        limits: Of the call.
        seconds: What the call and all that it makes may take; None: as the limits say.
        again: What a command that goes on with it needs, see `options_again`.
        accept_claims: Whether what servers say of their tools counts.
        display: Shows the calls that it makes; None: what tools say is shown alone.
        origin: Who asks, for policy and record.
        events: Whether the record is printed as it comes, instead of the value.
        quiet: Whether what models have used is not told at the end.
        json: Whether the result is printed as JSON.
    """
    shows = display or (Silent() if json else Notices())
    aside = display or Silent()
    models_used = ModelsUsed()
    started = started_with(settings)
    namespace = tool.rpartition(".")[0]
    offered = offered_for(
        settings, only=[namespace] if namespace else [], tool=tool, accept_claims=accept_claims
    )
    refuse_lacks(offered, tool)
    session = build(
        settings,
        toolset=offered.all,
        secrets=offered.secrets,
        guards=guards_for(settings),
        limits=limits,
        approver=approver_for(settings, aside),
        elicit=TerminalElicit(aside) if can_ask() else None,
        sinks=[shows.take, models_used.take, *([EventPrinter().take] if events else ())],
        store=store_for(settings),
    )
    signals = SignalHandling()
    work = partial(make_call, session, tool, given, signals=signals, seconds=seconds, origin=origin)
    with redirect_stdout(sys.stderr):  # what tools print, beside the result
        done = carry(work if display is None else partial(shown, display, work), signals)
    if done.run_id:
        remember(done.run_id, started, settings)
    if json:
        used = {"usage": {"models": models_used.facts}} if display is not None else {}
        result(json_module.dumps({**asdict(done), **used}, ensure_ascii=False))
    elif done.error is None and events:
        pass  # the record has it
    elif done.error is None:
        result(value_text(done.value, wide=sys.stdout.isatty()))
    elif done.pending:
        print_waiting(done.run_id, done.pending, done.expires_at, options=again)
    else:
        _complain(done.error, given)
        if done.error.code == "E_TIMEOUT" and seconds is not None:
            note(f"{paint('hint', 'yellow')}: give it more time with `--timeout S`")
        tell_down(offered)
    if not (json or done.pending):
        _tell_changes(done, agent=display is not None)
    offered.tell(done.pending)
    if models_used.line and not quiet and not json:
        note(paint(f"{models_used.line} · {done.run_id}", "dim"))
    raise SystemExit(done.exit_code or int(_program_failed(tool, done.value)))


def _program_failed(tool: str, value: object) -> bool:
    """Return whether a program was run that failed, or could not be run.

    Its own exit code would pass for one of the command line: 2 to 5 and 130 mean something there.
    """
    if tool not in ("python_run", "run_command") or not isinstance(value, Mapping):
        return False
    told = cast("Mapping[str, object]", value)
    code = told.get("exit_code", told.get("exitCode", 0))
    return told.get("ok") is False or code != 0


def _tell_changes(done: CallResult, *, agent: bool) -> None:
    """Print what the call did to files, and after a bad end what is left and what to do next."""
    kept = [change for change in done.changes if change not in done.dropped]
    for change in kept[:_LISTED]:
        note(change_line(change))
    if len(kept) > _LISTED:
        note(f"… and {counted(len(kept) - _LISTED, 'more file')}")
    if done.error is None or not done.run_id or not (agent or done.changes):
        return
    left = f"{counted(len(kept), 'changed file')} stayed" if kept else "no file was changed"
    if done.dropped:
        left = f"{left}, {counted(len(done.dropped), 'staged change')} dropped"
    note(f"run {done.run_id}: {left}")
    note(f"  lineshaft show {done.run_id}")
    if any(change.undoable for change in kept):
        note(f"  lineshaft undo {done.run_id}")


def _complain(error: CallError, given: Mapping[str, object]) -> None:
    note(f"{paint('error', 'red')}: {clean(error.message)} [{error.code}]")
    hints = [error.hint] if error.hint else []
    if error.code == "E_UNKNOWN_TOOL":
        hints = [error.hint if "did you mean" in error.hint else "`lineshaft tools` lists them"]
    texts = [name for name, value in given.items() if isinstance(value, str)]
    spoken_of = next((name for name in texts if f"`{name}` must" in error.message), None)
    if error.code == "E_INVALID_ARGS" and spoken_of is not None:
        hints.append(f"{spoken_of}=... gives text; write {spoken_of}:=... for other values")
    for hint in hints:
        note(f"{paint('hint', 'yellow')}: {clean(hint)}")


async def make_call(
    session: Session,
    tool: str,
    arguments: Mapping[str, object],
    *,
    signals: SignalHandling,
    seconds: float | None = None,
    origin: Origin = "shell",
) -> CallResult:
    """Make one call in a session of its own; a signal cancels it."""
    async with session:
        signals.cancel = session.end_all
        done = await session.call(tool, arguments, origin=origin, seconds=seconds)
        return without_secrets(session, done)
