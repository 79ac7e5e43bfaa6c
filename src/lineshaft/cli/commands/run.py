"""`lineshaft run`: a script over the configured tools."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import click

from lineshaft.cli._ahead import announce
from lineshaft.cli._approver import approver_for
from lineshaft.cli._carry import SignalHandling, carry
from lineshaft.cli._display import Display
from lineshaft.cli._elicit import TerminalElicit
from lineshaft.cli._keyboard import can_ask
from lineshaft.cli._offer import offered_for, tell_lacks
from lineshaft.cli._options import (
    accept_claims_option,
    atomic_option,
    engine_option,
    guards_for,
    json_option,
    limit_option,
    mode_option,
    options_again,
    origin_option,
    quiet_option,
    settings_for,
    timeout_option,
    tools_option,
    workspace_option,
)
from lineshaft.cli._pairs import inputs_of
from lineshaft.cli._records import store_for
from lineshaft.cli._report import print_run, summary
from lineshaft.cli._script import Script, args_argument, code_option, script_argument, script_of
from lineshaft.cli._shown import display_for, refresh, without_secrets
from lineshaft.cli._started import remember, started_with
from lineshaft.cli._terminal import note, paint, result
from lineshaft.config import build
from lineshaft.session import Session
from lineshaft.values import Caller, RunResult


@script_argument
@args_argument
@click.option("--arg", multiple=True, metavar="K=V", help="A value the script finds by name.")
@code_option
@tools_option
@engine_option
@mode_option
@timeout_option
@limit_option
@workspace_option
@atomic_option
@accept_claims_option
@origin_option
@quiet_option
@json_option
def command(
    *,
    script: str | None,
    args: tuple[str, ...],
    arg: tuple[str, ...],
    code: str | None,
    tools: tuple[str, ...],
    engine: str | None,
    mode: str | None,
    timeout: float | None,
    limit: tuple[str, ...],
    workspace: Path | None,
    atomic: bool | None,
    accept_claims: bool,
    origin: Literal["model", "editor"] | None,
    quiet: bool,
    json: bool,
) -> None:
    """Run a script and exit with the code of its result."""
    settings = settings_for(
        workspace, tools=tools, engine=engine, mode=mode, limits=limit, atomic=atomic
    )
    limits = settings.limits(seconds=timeout)
    if not settings.script_enabled:
        note(f"scripts are switched off by {settings.setting('script.enabled').source}")
    started = started_with(settings)
    guards, source = guards_for(settings), script_of(script, code, args)
    inputs = inputs_of(source.args, arg)
    offered = offered_for(settings, words=source.text, accept_claims=accept_claims)
    tell_lacks(offered, source.text)
    store = store_for(settings)
    if not quiet:
        announce()
    display = display_for(quiet=quiet or json)
    approver = approver_for(settings, display)
    elicit = TerminalElicit(display) if can_ask() else None
    caller = None
    if origin is not None:
        caller = Caller(approver=approver, elicit=elicit, origin=origin)
    session = build(
        settings,
        toolset=offered.all,
        secrets=offered.secrets,
        guards=guards,
        limits=limits,
        approver=approver,
        elicit=elicit,
        store=store,
    )
    signals = SignalHandling()
    begun = partial(remember, started=started, settings=settings)
    work = partial(
        _run,
        session,
        source,
        inputs=inputs,
        caller=caller,
        display=display,
        signals=signals,
        begun=begun,
    )
    try:
        with redirect_stdout(sys.stderr):  # what tools print, beside the result
            run = carry(work, signals)
    finally:  # also where a person did not wait for the end
        display.close()
    if json:
        result(run.json())
    else:
        again = options_again(workspace)
        print_run(run, script=source.text, name=source.name, options=again)
        if not quiet:
            offered.tell(run.pending)
            note(paint(summary(run), "dim"))
    raise SystemExit(run.exit_code)


async def _run(
    session: Session,
    script: Script,
    *,
    inputs: dict[str, object],
    caller: Caller | None,
    display: Display,
    signals: SignalHandling,
    begun: Callable[[str], None],
) -> RunResult:
    async with session:
        run = await session.start(
            script.text, inputs=inputs, name=Path(script.name).name, caller=caller
        )
        signals.cancel = run.cancel
        begun(run.run_id)
        async with anyio.create_task_group() as group:
            group.start_soon(refresh, display)
            async for event in run:
                display.take(event)
            group.cancel_scope.cancel()
        return without_secrets(session, await run.result())
