"""`lineshaft preview`: what a script would do, without doing it."""

import json as json_module
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import click
from msgspec.structs import replace

from lineshaft.cli._ahead import announce
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import offered_for
from lineshaft.cli._options import (
    engine_option,
    guards_for,
    json_option,
    limit_option,
    mode_option,
    settings_for,
    timeout_option,
    tools_option,
    workspace_option,
)
from lineshaft.cli._pairs import inputs_of
from lineshaft.cli._report import failure, finding_line
from lineshaft.cli._script import Script, args_argument, code_option, script_argument, script_of
from lineshaft.cli._shape import MARKS, counted
from lineshaft.cli._shown import without_secrets
from lineshaft.cli._terminal import clean, note, one_line, paint, result, say
from lineshaft.cli._waiting import diff_lines
from lineshaft.config import build
from lineshaft.session import Session
from lineshaft.trace import readable_line
from lineshaft.values import ASK_MODEL, Preview, fate_of_changes


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
@click.option(
    "--with-models", is_flag=True, help="Ask models: microagents work, which costs tokens."
)
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
    with_models: bool,
    json: bool,
) -> None:
    """Show the calls that a script would make and what would change; nothing lands."""
    settings = settings_for(workspace, tools=tools, engine=engine, mode=mode, limits=limit)
    limits = settings.limits(seconds=timeout)
    guards, source = guards_for(settings), script_of(script, code, args)
    inputs = inputs_of(source.args, arg)
    offered = offered_for(settings, words=source.text)
    session = build(
        settings, toolset=offered.all, guards=guards, limits=limits, secrets=offered.secrets
    )
    announce()
    with redirect_stdout(sys.stderr):  # what tools print, beside the result
        preview = carry(partial(_preview, session, source, inputs=inputs, with_models=with_models))
    if json:
        result(json_module.dumps(preview.to_dict(), ensure_ascii=False))
    else:
        for line in lines(preview):
            say(line)
        _complain(preview, source)
    raise SystemExit(preview.run.exit_code)


async def _preview(
    session: Session, script: Script, *, inputs: dict[str, object], with_models: bool
) -> Preview:
    async with session:
        preview = await session.preview(
            script.text, inputs=inputs, name=Path(script.name).name, with_models=with_models
        )
        return replace(preview, run=without_secrets(session, preview.run))


def lines(preview: Preview) -> Iterator[str]:
    """Yield what a preview says on standard output: calls, where it stopped, the diff.

    Args:
        preview: What the script would do.
    """
    stopped = preview.stopped_at
    calls = [call for call in preview.run.calls if stopped is None or call.id != stopped.id]
    out = sys.stdout
    yield paint(f"{counted(len(calls), 'call')} would be made", "bold", stream=out)
    depths: dict[str, int] = {}
    for call in calls:
        depths[call.id] = depths.get(call.parent or "", -1) + 1
        error = f"  {call.error.code}: {one_line(call.error.message)}" if call.error else ""
        head = f"{MARKS[call.status]} {readable_line(call, calls)}"
        yield f"{'  ' * (depths[call.id] + 1)}{head}{error}"
    if stopped is not None:
        why = f" ({one_line(stopped.reason or stopped.rule)})" if stopped.reason else ""
        line = readable_line(next(c for c in preview.run.calls if c.id == stopped.id), calls)
        yield f"{paint('stops before', 'yellow', stream=out)} {line}{why}"
        if stopped.tool == ASK_MODEL:
            yield "a model is needed to know what comes after it; `--with-models` asks it"
        else:
            yield "what it would return is not known, nor what comes after it"
    run = preview.run
    would = f"{counted(len(run.changes), 'file')} would change; the disk is unchanged"
    if run.status not in ("success", "paused"):
        would = fate_of_changes(run) or would
    yield paint(would, "bold", stream=out)
    if out.isatty():
        yield from diff_lines(preview.diff, whole=True, stream=out)
    elif preview.diff:
        yield preview.diff.rstrip("\n")


def _complain(preview: Preview, source: Script) -> None:
    """Print on standard error what guards and checks found, and why the script did not end."""
    run = preview.run
    if run.stdout:
        note(paint("the script prints:", "dim"))
        note(clean(run.stdout.rstrip("\n")))
    if run.status not in ("success", "paused"):
        for line in failure(run, script=source.text, name=source.name):
            note(line)
        return
    for finding in run.findings:
        if finding.level != "info":
            note(finding_line(finding, source.name))
