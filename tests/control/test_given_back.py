"""A run that a resume took up and that does not go on then: it waits as it did."""

import asyncio
from pathlib import Path

import pytest

from control.world import Open
from lineshaft import Answer
from lineshaft.store import Store
from lineshaft.values import RunClaim, SavedRun
from support import Outside

YES = {"*": Answer(allow=True)}


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
