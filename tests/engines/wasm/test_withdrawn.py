"""A call that ends while the script withdraws it keeps nothing else from coming."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from threading import Event
from typing import Literal, cast

import pytest

from lineshaft import Answer, Limits, Pending, Session, tool
from lineshaft.engines.wasm.host import GuestHost
from lineshaft.engines.wasm.run import WasmRun
from lineshaft.sandbox.webassembly import Instance
from lineshaft.values import Call, Done, Program, Returned, Suspended, Value

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


def _call(number: int) -> Mapping[str, object]:
    return {"call": number, "tool": "made", "positional": [], "arguments": {}}


class TwoTurns:
    """An instance whose guest withdraws a call in one turn, and waits for another in the next.

    Args:
        seconds: The longest that it waits; infinite: until the call ends.
    """

    def __init__(self, seconds: float) -> None:
        self.withdraw, self.waits = Event(), Event()
        self._seconds = seconds
        self._thread = 0

    def start(
        self,
        order: str,
        host: GuestHost,
        *,
        memory_mb: int,
        done: Callable[[str | BaseException], None],
    ) -> None:
        """Start the guest."""

        def work() -> None:
            try:
                host.turn(0, json.dumps([_call(1), _call(2)]))
                self.withdraw.wait(30)
                host.turn(0, json.dumps([{"cancel": 1}]))
                self._thread = threading.get_ident()
                host.turn(self._seconds, "[]")
                done('{"how":"returned","value":"over"}')
            except BaseException as error:  # noqa: BLE001  as the class that it stands for does
                done(error)

        threading.Thread(target=work).start()

    def stop(self) -> None:
        """Do nothing: a guest that waits is told so by its host."""

    def clock(self) -> float:
        """Return the time; the guest's thread asks for it when it has told of its last turn."""
        if threading.get_ident() == self._thread:
            self.waits.set()
        return time.monotonic()


@pytest.mark.parametrize("comes", ["an answer", "a time"])
async def test_nor_does_one_that_an_earlier_turn_withdrew(comes: str) -> None:
    made, ended = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def dispatch(call: Call) -> Done:
        if call.id == "1":
            await ended
            return Value(None)
        made.set()
        return await asyncio.get_running_loop().create_future()

    async def waiting(call_ids: Collection[str]) -> Literal["wait", "suspend"]:
        assert list(call_ids) == ["2"]
        return "suspend" if comes == "an answer" else "wait"

    instance = TwoTurns(0.05 if comes == "a time" else -1)
    run = WasmRun(
        cast("Instance", instance),
        Program(source="", name="script", clock=instance.clock),
        dispatch,
        limits=Limits(),
        output=print,
        waiting=waiting,
        packages=None,
    )
    async with asyncio.timeout(20):
        task = asyncio.create_task(run.execute(""))
        await made.wait()
        ended.set_result(None)  # the loop hears of it before it hears of both turns
        instance.withdraw.set()
        assert instance.waits.wait(20)
        outcome = await task
    assert outcome == (Suspended() if comes == "an answer" else Returned(value="over"))
