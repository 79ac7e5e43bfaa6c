"""An engine that still asks whether it may suspend when its run is over is told to wait."""

import asyncio
from pathlib import Path

from typing_extensions import override

from lineshaft import Session
from lineshaft.testing import ScriptedEngine
from lineshaft.values import Dispatch, Limits, Outcome, Output, Program, Waiting


class Careless(ScriptedEngine):
    """Ends a run while it still asks."""

    asked: "asyncio.Task[str]"

    @override
    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> Outcome:
        async def ask() -> str:
            return await waiting(["1"])

        self.asked = asyncio.create_task(ask())
        await asyncio.sleep(0)
        return await super().run(program, dispatch, limits=limits, output=output, waiting=waiting)


async def test_an_engine_that_asks_beyond_the_end_of_its_run_is_answered(tmp_path: Path) -> None:
    engine = Careless(value=1)
    async with Session(workspace=tmp_path, engine=engine, store=False) as session:
        done = await session.run("anything")
        assert (done.value, await asyncio.wait_for(engine.asked, 30)) == (1, "wait")
