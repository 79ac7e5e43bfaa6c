"""A run that is told to end: the event loop waits for its thread, and does not turn meanwhile."""

import asyncio
import selectors
import threading

import anyio
import pytest

from lineshaft import Limits, Session, tool
from lineshaft.tasks import wait_until_done

FEW = 15
"""Turns of the loop. One that is kept turning makes more of them, whatever the machine."""

COMPUTES = """
await begin()
while True:
    try:
        while True: pass
    except BaseException: pass
"""


class Counting(selectors.DefaultSelector):
    """A selector that counts the turns of its loop."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.turns += 1
        return super().select(timeout)


@pytest.fixture
def selector() -> Counting:
    return Counting()


@pytest.fixture
def runner(selector: Counting) -> asyncio.Runner:
    return asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector))


async def turns_of_a_cancel(selector: Counting) -> int:
    begun = asyncio.Event()

    @tool(effect="read")
    async def begin() -> None:
        """Say that it computes from now on."""
        begun.set()

    async with Session([begin], engine="wasm") as session:
        run = await session.start(COMPUTES, limits=Limits(seconds=600))
        await begun.wait()
        before = selector.turns
        run.cancel()
        result = await run.result()
        taken = selector.turns - before
    assert result.status == "cancelled"
    return taken


def test_a_cancel_leaves_the_event_loop_at_rest(selector: Counting, runner: asyncio.Runner) -> None:
    with runner:
        assert max(runner.run(turns_of_a_cancel(selector)) for _ in range(5)) <= FEW


def test_a_scope_that_is_cancelled_turns_no_loop(
    selector: Counting, runner: asyncio.Runner
) -> None:
    ends = threading.Event()

    async def waits() -> int:
        taken = 0
        loop = asyncio.get_running_loop()
        thread = loop.run_in_executor(None, ends.wait)
        with anyio.CancelScope() as scope:
            scope.cancel()
            before = selector.turns
            loop.call_later(0.1, ends.set)
            await wait_until_done((thread,))
            taken = selector.turns - before
            await asyncio.sleep(0)
            pytest.fail("the cancellation did not come through")
        assert thread.done()
        return taken

    with runner:
        assert runner.run(waits()) <= FEW


async def test_a_cancel_of_asyncio_is_told_once_all_is_done() -> None:
    loop = asyncio.get_running_loop()
    work: asyncio.Future[None] = loop.create_future()
    waiter = asyncio.create_task(wait_until_done((work,)))
    for _ in range(3):
        await asyncio.sleep(0)
        waiter.cancel()
    await asyncio.sleep(0)
    assert not waiter.done()
    work.set_result(None)
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_a_wait_ends_with_its_time() -> None:
    work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    await wait_until_done((work,), 0.01)
    await wait_until_done((work,), 0)
    assert not work.done()
