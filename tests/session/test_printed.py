"""What a script prints, as events tell it."""

import pytest

from lineshaft import Limits, Session, tool


@tool(effect="read")
async def ping() -> str:
    """Answer."""
    return "pong"


@pytest.mark.long
async def test_many_lines_are_few_events() -> None:
    async with Session(engine="wasm") as session:
        run = await session.start(
            "for i in range(20_000): print(i)", limits=Limits(stdout_bytes=1_000_000)
        )
        told = [str(event.data["text"]) async for event in run if event.kind == "output"]
        result = await run.result()
    assert result.stdout == "".join(told) == "".join(f"{i}\n" for i in range(20_000))
    assert len(told) < 2_000


async def test_a_script_that_only_defines_is_told_to_call() -> None:
    async with Session([ping], store=False) as session:
        idle = await session.handle(
            "run_script", {"code": "async def main():\n    return await ping()"}
        )
        silent = await session.handle("run_script", {"code": "x = await ping()"})
    assert "called no tool" in idle.text
    assert "return await main()" in idle.text
    assert silent.text == "(the script returned None and printed nothing)"
