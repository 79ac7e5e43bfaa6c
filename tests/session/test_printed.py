"""What a script prints, as events tell it."""

from lineshaft import Limits, Session


async def test_many_lines_are_few_events() -> None:
    async with Session(engine="wasm") as session:
        run = await session.start(
            "for i in range(20_000): print(i)", limits=Limits(stdout_bytes=1_000_000)
        )
        told = [str(event.data["text"]) async for event in run if event.kind == "output"]
        result = await run.result()
    assert result.stdout == "".join(told) == "".join(f"{i}\n" for i in range(20_000))
    assert len(told) < 2_000
