"""Many at once, and many in a row."""

import os

import anyio
import psutil
import pytest

from lineshaft import Limits, RunResult, Session, tool
from support import Make, Outside

RUNS, NESTED = 200, 20
WITHIN = 1024**3
"""The most bytes that so many runs need, beside what the process held before them."""


def memory_with_children() -> int:
    """Return the bytes of this process and all below it; pages that they share count once."""
    me = psutil.Process(os.getpid())
    total = 0
    for process in (me, *me.children(recursive=True)):
        try:
            told = process.memory_full_info()
            total += getattr(told, "pss", told.uss)
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.mark.behaviour("C13")
async def test_200_runs_in_flight_at_once_with_nested_ones_among_them(make: Make) -> None:
    here, everybody = [0], anyio.Event()
    sessions: list[Session] = []
    most = [0]

    @tool(effect="read")
    async def gather_here(number: int) -> int:
        """Return the number, once all have come."""
        here[0] += 1
        if here[0] == RUNS:
            most[0] = memory_with_children()
            everybody.set()
        await everybody.wait()
        return number

    @tool(effect="read")
    async def nested(number: int) -> int:
        """Wait in a run of its own."""
        result = await sessions[0].run(f"return await gather_here(number={number})")
        assert result.error is None, result.error
        return result.value

    results: dict[int, RunResult] = {}

    async def one(session: Session, number: int) -> None:
        name = "nested" if number < NESTED else "gather_here"
        results[number] = await session.run(f"return await {name}(number={number}) * 2")

    limits = Limits(seconds=300, call_seconds=300)
    async with make(gather_here, nested, limits=limits) as session:
        sessions.append(session)
        before = memory_with_children()
        with anyio.fail_after(300):
            async with anyio.create_task_group() as group:
                for number in range(RUNS):
                    group.start_soon(one, session, number)
    assert [results[n].error for n in range(RUNS)] == [None] * RUNS
    assert [results[n].value for n in range(RUNS)] == [2 * n for n in range(RUNS)]
    assert most[0] - before < WITHIN


@pytest.mark.no_cover
@pytest.mark.behaviour("C13", "A3")
async def test_10000_calls_in_one_run(make: Make, outside: Outside) -> None:
    script = """
total = 0
for i in range(10000):
    total += await peek()
return total
"""
    limits = Limits(seconds=600, calls=10_000)
    async with make(outside.tool("peek", effect="read"), limits=limits) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value == 10_000 * 10_001 // 2
    assert result.usage.calls == {"peek": 10_000}
    assert len({call.id for call in result.calls}) == 10_000


@pytest.mark.behaviour("C13")
async def test_five_megabytes_pass_in_one_result(make: Make) -> None:
    @tool(effect="read")
    async def big() -> str:
        """Return 5 MB."""
        return "é" * 2_500_000

    async with make(big) as session:
        result = await session.run("return len(await big())")
    assert result.value == 2_500_000
    assert result.usage.bytes_in > 5_000_000
