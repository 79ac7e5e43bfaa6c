"""A run that is begun to be kept keeps what ended before that, and what ends meanwhile."""

from collections.abc import Sequence
from pathlib import Path

import anyio
from typing_extensions import override

from lineshaft import Policy, Session, Tool
from lineshaft.store import Store
from lineshaft.values import Call, Dispatch, Done, KeptCall, KeptPause, KeptRun, RunState
from support import Outside

SCRIPT = """
first = await look()
return await asyncio.gather(look(), poke())
"""


class Halting(Store):
    """A store that begins to keep a run only once that is let go on."""

    begins: anyio.Event
    goes_on: anyio.Event

    @override
    async def begin(
        self,
        run: KeptRun,
        *,
        calls: Sequence[tuple[KeptCall, Done]] = (),
        pause: KeptPause | None = None,
    ) -> RunState:
        self.begins.set()
        await self.goes_on.wait()
        return await super().begin(run, calls=calls, pause=pause)


async def test_a_call_that_ends_while_its_run_is_begun_to_be_kept_is_kept(
    tmp_path: Path, outside: Outside
) -> None:
    store = Halting(tmp_path / "runs.db")
    store.begins, store.goes_on = anyio.Event(), anyio.Event()
    looks: list[str] = []

    async def look() -> int:
        """Look."""
        looks.append("")
        if len(looks) == 2:
            await store.begins.wait()
        return len(looks)

    def late(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            done = await inner(call)
            if len(looks) == 2:
                store.goes_on.set()  # by now the second look is held
            return done

        return dispatch

    tools = [Tool.from_function(look, effect="read"), outside.tool("poke", effect="external")]
    open_, here = Policy(mode="open"), tmp_path
    async with Session(
        tools, workspace=here, policy=open_, store=store, middleware=[late]
    ) as session:
        done = await session.run(SCRIPT)
        assert (done.engine, done.value) == ("monty", [2, 1])
        replayed = await session.replay(done.run_id)
    assert (replayed.difference, replayed.run.value, len(looks)) == (None, [2, 1], 2)
