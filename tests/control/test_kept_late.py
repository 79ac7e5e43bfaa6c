"""A run that is begun to be kept keeps what ended before that, and what ends meanwhile."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio

from lineshaft import Policy, Session, Tool
from lineshaft.files import state_folder
from lineshaft.store import Store
from lineshaft.values import Call, Dispatch, Done
from support import Outside

SCRIPT = """
first = await look()
return await asyncio.gather(look(), poke())
"""


async def test_a_call_that_ends_while_its_run_is_begun_to_be_kept_is_kept(
    tmp_path: Path, outside: Outside
) -> None:
    """Another process holds the store until the second look has ended."""
    async with Store() as store:
        await store.runs()
    asked = anyio.Event()
    looks: list[str] = []
    other = sqlite3.connect(state_folder() / "runs.db", isolation_level=None)

    async def look() -> int:
        """Look."""
        looks.append("")
        number = len(looks)
        if number == 2:
            await asked.wait()
        return number

    def late(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            if call.tool == "poke" and not asked.is_set():
                other.execute("BEGIN IMMEDIATE")
                asked.set()
            done = await inner(call)
            if call.tool == "look" and other.in_transaction:
                other.execute("COMMIT")  # by now the second look is held
            return done

        return dispatch

    tools = [Tool.from_function(look, effect="read"), outside.tool("poke", effect="external")]
    open_, here = Policy(mode="open"), tmp_path
    with closing(other):
        async with Session(tools, workspace=here, policy=open_, middleware=[late]) as session:
            done = await session.run(SCRIPT)
            assert (done.engine, done.value) == ("wasm", [2, 1])
            replayed = await session.replay(done.run_id)
    assert (replayed.difference, replayed.run.value, len(looks)) == (None, [2, 1], 2)
