"""The runs of one workspace, as its store and its journals have them.

Above: the host's requests. Below: `store`, by its public reader; `workspace`, for what landed.
"""

import hashlib
import json
from collections.abc import Callable

import anyio

from lineshaft.errors import RunUnknown
from lineshaft.remote.protocol import Json
from lineshaft.remote.runs.shown import change_told, detail_told, run_told
from lineshaft.store import Store, workspace_name
from lineshaft.trace import summarise
from lineshaft.workspace import Folder

MOST_RUNS = 200
_LOOK_SECONDS = 0.5
"""Between two looks into the store, while another list is waited for."""


class KeptRuns:
    """Reads the runs of one workspace; it changes nothing.

    Args:
        store: Keeps the runs.
        folder: The workspace, with its journals.
        redact: Takes secrets out of a text.
    """

    def __init__(self, store: Store, folder: Folder, redact: Callable[[str], str]) -> None:
        self._store, self._folder, self._redact = store, folder, redact
        self._workspace = workspace_name(folder.root)

    async def newest(self, limit: int = 50) -> Json:
        """Return the newest runs, the newest first, and a mark that changes with any of them.

        Args:
            limit: The most runs, up to 200.

        Raises:
            StateError: The store cannot be read.
        """
        most = max(1, min(limit, MOST_RUNS))
        found = await self._store.runs(workspace=self._workspace, limit=most)
        told = [run_told(run) for run in found]
        text = json.dumps(told, sort_keys=True, default=str)
        return {"results": told, "mark": hashlib.sha256(text.encode()).hexdigest()[:16]}

    async def other(self, mark: str, limit: int = 50) -> Json:
        """Return the newest runs once their mark is another than the one that is known.

        Args:
            mark: The known one.
            limit: As for `newest`.

        Raises:
            StateError: The store cannot be read.
        """
        told = await self.newest(limit)
        while told["mark"] == mark:
            await anyio.sleep(_LOOK_SECONDS)
            told = await self.newest(limit)
        return told

    async def run(self, run_id: str) -> Json:
        """Return one run: its calls, its changes, what it waits for, how it ended.

        Raises:
            RunUnknown: There is none of this workspace.
            RecordError: Its record is damaged.
        """
        summary = await self._store.summary(run_id)
        if summary.workspace != self._workspace:
            raise RunUnknown(f"no run {run_id!r} of this workspace is recorded")
        events = await self._store.events(run_id)
        return {**run_told(summary), **detail_told(summarise(events), events)}

    async def change(self, run_id: str, path: str) -> Json:
        """Return a file before a run's landings and after them: `before`, `after`, `note`.

        Args:
            run_id: The run.
            path: The file, as the run's changes name it.

        Raises:
            RunUnknown: There is no such run of this workspace, or it landed no change of the file.
            StateExpired: The contents are not kept, or the run was undone.
            TooLarge: It is too large to be shown.
        """
        summary = await self._store.summary(run_id)
        if summary.workspace != self._workspace:
            raise RunUnknown(f"no run {run_id!r} of this workspace is recorded")
        changes = summarise(await self._store.events(run_id)).changes
        former = next((each.moved_from for each in changes if each.path == path), None)
        return change_told(await self._folder.landed(run_id, path, former), self._redact)

    async def aclose(self) -> None:
        """Close the store."""
        await self._store.aclose()
