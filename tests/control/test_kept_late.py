"""A run that is begun to be kept keeps what ended before that, and what ends meanwhile."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Policy, Session, Tool
from lineshaft.store import Store
from lineshaft.values import Call, Dispatch, Done, RunState
from support import Outside

SCRIPT = """
first = await look()
return await asyncio.gather(look(), poke())
"""


class Gate:
    """Keeps a store from beginning to keep a run until it is opened."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.opened = anyio.Event()

    def before(
        self, begin: Callable[..., Awaitable[RunState]]
    ) -> Callable[..., Awaitable[RunState]]:
        """Return `begin` behind this gate."""

        async def halting(store: Store, *arguments: Any, **named: Any) -> RunState:
            self.reached.set()
            await self.opened.wait()
            return await begin(store, *arguments, **named)

        return halting


async def test_a_call_that_ends_while_its_run_is_begun_to_be_kept_is_kept(
    tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    monkeypatch.setattr(Store, "begin", gate.before(Store.begin))
    looks: list[str] = []

    async def look() -> int:
        """Look."""
        looks.append("")
        number = len(looks)
        if number == 2:
            await gate.reached.wait()
        return number

    def late(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            done = await inner(call)
            if len(looks) == 2:
                gate.opened.set()  # by now the second look is held
            return done

        return dispatch

    tools = [Tool.from_function(look, effect="read"), outside.tool("poke", effect="external")]
    open_, here = Policy(mode="open"), tmp_path
    async with Session(tools, workspace=here, policy=open_, middleware=[late]) as session:
        done = await session.run(SCRIPT)
        assert (done.engine, done.value) == ("wasm", [2, 1])
        replayed = await session.replay(done.run_id)
    assert (replayed.difference, replayed.run.value, len(looks)) == (None, [2, 1], 2)
