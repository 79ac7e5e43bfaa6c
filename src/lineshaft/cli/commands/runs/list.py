"""`lineshaft runs`: what was run here, what waits, and what was cut short."""

import json as json_module
from dataclasses import asdict
from pathlib import Path

import click

from lineshaft.cli._options import json_option, settings_to_look, workspace_option
from lineshaft.cli._records import look
from lineshaft.cli._shape import counted, took
from lineshaft.cli._terminal import note, one_line, paint, result
from lineshaft.store import RunSummary, Store, workspace_name

_WIDEST = len("interrupted")


@click.option(
    "--last",
    type=click.IntRange(1, 1_000_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many.",
)
@workspace_option
@json_option
def command(
    *,
    last: int,
    workspace: Path | None,
    json: bool,
) -> None:
    """List the newest recorded runs of this workspace, the newest first."""
    settings = settings_to_look(workspace)

    async def newest(store: Store) -> list[RunSummary]:
        return await store.runs(workspace=workspace_name(settings.root), limit=last + 1)

    found = look(settings, newest)
    shown = found[:last]
    if json:
        result(json_module.dumps([_facts(run) for run in shown], ensure_ascii=False))
        return
    for run in shown:
        result(_line(run))
    if not found:
        note(paint("no run of this workspace is recorded", "dim"))
    elif len(found) > last:
        note(paint("there are older ones: --last N shows more", "dim"))


def _facts(run: RunSummary) -> dict[str, object]:
    facts: dict[str, object] = {**asdict(run), "started": run.started_at, "pending": run.pending}
    del facts["started_at"], facts["last_at"]
    return facts


def _line(run: RunSummary) -> str:
    calls = counted(run.calls, "call")
    head = f"{run.run_id}  {run.status:<{_WIDEST}}  {took(run.duration_ms):>8}  {calls:<11}"
    line = f"{head}  {one_line(run.name)}"
    if run.status != "paused":
        return line
    waiting = f"waits for {counted(run.pending, 'answer')}"
    tools = ", ".join(one_line(tool) for tool in dict.fromkeys(run.waiting))
    until = f", until {one_line(run.expires_at)}" if run.expires_at else ""
    return f"{line}  {waiting} ({tools}){until}" if tools else f"{line}  {waiting}{until}"
