"""A run that a resume took up and that does not go on then: it waits as it did."""

import asyncio
from pathlib import Path

import pytest

from control.world import Open
from lineshaft import Answer, Event
from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.values import RunClaim, SavedRun
from support import Outside

YES = {"*": Answer(allow=True)}


class Held(Store):
    """A store that says when it is asked for a run's state or record, and answers later.

    Args:
        path: Where it is.
        waits: The method that waits.
    """

    def __init__(self, path: Path, waits: str) -> None:
        super().__init__(path)
        self._waits = waits
        self.asked = asyncio.Event()
        self.answers = asyncio.Event()

    async def load(self, run_id: str) -> SavedRun:
        """Wait before it is taken."""
        await self._wait("load")
        return await super().load(run_id)

    async def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """Wait while it is taken."""
        await self._wait("take")
        return await super().take(run_id)

    async def events(self, run_id: str) -> list[Event]:
        """Wait after it was taken."""
        await self._wait("events")
        return await super().events(run_id)

    async def _wait(self, method: str) -> None:
        if method == self._waits:
            self.asked.set()
            await self.answers.wait()


class Hurried(Store):
    """A store whose callers are cancelled while it takes a run up."""

    async def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """Take it, for a caller who leaves."""
        task = asyncio.current_task()
        assert task is not None
        task.get_loop().call_soon(task.cancel)
        return await super().take(run_id)


async def test_a_resume_that_is_cancelled_while_it_takes_the_run_leaves_it_waiting(
    opened: Open, outside: Outside, tmp_path: Path
) -> None:
    path = tmp_path / "state" / "runs.db"
    async with opened() as session:
        paused = await session.run("return await poke()")
    assert paused.status == "paused"
    async with opened(store=Hurried(path)) as session:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(session.resume(paused.run_id, YES))
        assert (await session.summary(paused.run_id)).status == "paused"
        async with opened(store=Store(path)) as another:
            done = await another.resume(paused.run_id, YES)
    assert (done.status, done.value, outside.total) == ("success", 1, 1)


@pytest.mark.parametrize("how", ["closed", "cancelled"])
@pytest.mark.parametrize("waits", ["load", "take", "events"])
async def test_a_session_that_is_closed_while_a_run_is_resumed_leaves_it_waiting(
    opened: Open, outside: Outside, tmp_path: Path, waits: str, how: str
) -> None:
    async with opened() as session:
        paused = await session.run("return await poke()")
    store = Held(tmp_path / "state" / "runs.db", waits)
    async with opened(store=store) as session:
        resuming = asyncio.create_task(session.resume(paused.run_id, YES))
        await store.asked.wait()
        if how == "cancelled":
            session.end_all()
    store.answers.set()  # too late
    with pytest.raises(StateError, match="was not resumed"):
        await resuming
    async with opened() as session:
        done = await session.resume(paused.run_id, YES)
    assert (done.status, done.value, outside.total) == ("success", 1, 1)
