"""A call that ends while the script withdraws it keeps nothing else from coming."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from threading import Event

from lineshaft import Answer, Limits, Pending, Session, tool

BEGIN = """
first = asyncio.create_task(ends())
second = asyncio.create_task(ends_later())
await first
second.cancel()
"""
TIMED = """
try:
    async with asyncio.timeout(0.2):
        await never()
except TimeoutError:
    return "over"
"""


@tool(effect="read")
async def ends() -> None:
    """End at once."""


@tool(effect="read")
async def ends_later() -> None:
    """End in the next round of the event loop."""
    await asyncio.sleep(0)


@tool(effect="read")
async def never() -> None:
    """Wait."""
    await asyncio.Event().wait()


@tool(effect="external")
async def act() -> str:
    """Act."""
    return "acted"


async def yes(pending: Sequence[Pending]) -> Mapping[str, Answer]:
    return {each.id: Answer(allow=True) for each in pending}


@asynccontextmanager
async def busy() -> AsyncGenerator[None]:
    """Have each round of the loop take so long that the script's thread acts within one."""

    async def compute() -> None:
        while True:
            Event().wait(0.004)
            await asyncio.sleep(0)

    task = asyncio.create_task(compute())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_call_withdrawn_as_it_ends_keeps_neither_answers_nor_timers_away() -> None:
    tools, limits = [ends, ends_later, never, act], Limits(seconds=10)
    async with (
        busy(),
        Session(tools, engine="wasm", approver=yes, check="off", store=False) as session,
    ):
        for _ in range(3):
            approved = await session.run(f"{BEGIN}return await act()", limits=limits)
            timed = await session.run(f"{BEGIN}{TIMED}", limits=limits)
            assert (approved.value, approved.error) == ("acted", None)
            assert (timed.value, timed.error) == ("over", None)
