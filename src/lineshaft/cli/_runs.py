"""`lineshaft runs`: what was run here."""

import json as json_module
from typing import Annotated

import typer

from lineshaft.cli._options import Json, Workspace, settings_for
from lineshaft.cli._records import read_record, records_folder, run_ids
from lineshaft.cli._shape import counted, took
from lineshaft.cli._terminal import note, one_line, paint, result


def command(
    *,
    last: Annotated[int, typer.Option("--last", help="How many.", metavar="N", min=1)] = 20,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """List the newest recorded runs of this workspace, the newest first."""
    folder = records_folder(settings_for(workspace).root)
    ids = run_ids(folder)
    told: list[dict[str, object]] = []
    for run_id in ids[:last]:
        events, run = read_record(folder / f"{run_id}.jsonl")
        name = str(events[0].data.get("name", ""))
        if json:
            facts: dict[str, object] = {
                "run_id": run_id,
                "started": events[0].at,
                "name": name,
                "status": run.status,
                "duration_ms": run.duration_ms,
                "calls": len(run.calls),
            }
            told.append(facts)
        else:
            calls = counted(len(run.calls), "call")
            head = f"{run_id}  {run.status:<9}  {took(run.duration_ms):>8}"
            result(f"{head}  {calls:<11}  {one_line(name)}")
    if json:
        result(json_module.dumps(told, ensure_ascii=False))
    if not ids:
        note(paint("no run of this workspace is recorded", "dim"))
    elif len(ids) > last and not json:
        note(paint(f"{len(ids) - last:,} older ones: --last N shows more", "dim"))
