"""Where the records of runs are: one JSONL file a run, outside the workspace.

They lie in the person's state folder, in one folder a workspace: the tree of the workspace stays
as it is, scripts cannot read what earlier runs did, and files are readable by their owner alone.
"""

import hashlib
import os
import re
from pathlib import Path

from lineshaft.config import private_folder, state_folder
from lineshaft.errors import ConfigError
from lineshaft.trace import JsonlSink, jsonl_sink, read_events, summarise
from lineshaft.values import Event, RunResult

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def records_folder(root: Path) -> Path:
    """Return the folder of a workspace's records; it need not exist."""
    real = os.path.realpath(root)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:12]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", Path(real).name)[:40] or "root"
    return state_folder() / "runs" / f"{name}-{digest}"


class Records:
    """A sink that writes each run it hears of into a file of its own.

    Args:
        folder: Where the files go.

    Raises:
        ConfigError: The folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        private_folder(folder.parent.parent)
        self._folder = private_folder(folder)
        self._open: dict[str, JsonlSink] = {}

    def __call__(self, event: Event) -> None:
        """Write one event."""
        if event.run_id not in self._open:
            self._open[event.run_id] = jsonl_sink(self._folder / f"{event.run_id}.jsonl")
        self._open[event.run_id](event)
        if event.kind == "run_finished":
            self._open.pop(event.run_id).close()


def run_ids(folder: Path) -> list[str]:
    """Return the ids of the recorded runs, the last one first.

    Ids tell the second only; the time of the last event decides.
    """
    try:
        times = {path.stem: path.stat().st_mtime_ns for path in folder.glob("*.jsonl")}
        return sorted(times, key=lambda run_id: (times[run_id], run_id), reverse=True)
    except OSError as error:
        raise ConfigError(f"{str(folder)!r} cannot be read: {error.strerror}") from error


def find_record(folder: Path, run_id: str | None) -> Path:
    """Return the file of one run, or of the last one.

    Args:
        folder: The workspace's records.
        run_id: The run's id or the beginning of it; None for the last one.

    Raises:
        ConfigError: There is none, or there are several.
    """
    if run_id is None:
        ids = run_ids(folder)
        if not ids:
            raise ConfigError(
                "no run of this workspace is recorded", hint="name a workspace with --workspace"
            )
        return folder / f"{ids[0]}.jsonl"
    if not _ID.fullmatch(run_id):
        raise ConfigError(f"{run_id!r} is not the id of a run", hint="lineshaft runs lists them")
    found = sorted(folder.glob(f"{run_id}*.jsonl")) or sorted(
        folder.parent.glob(f"*/{run_id}*.jsonl")
    )
    exact = [path for path in found if path.stem == run_id]
    if len(exact or found) != 1:
        what = "no recorded run begins" if not found else f"{len(found)} recorded runs begin"
        raise ConfigError(f"{what} with {run_id!r}", hint="lineshaft runs lists them")
    return (exact or found)[0]


def read_record(path: Path) -> tuple[list[Event], RunResult]:
    """Return the events of a record and the result they add up to."""
    events = read_events(path)
    return events, summarise(events)
