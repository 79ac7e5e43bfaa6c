"""Memory of one thing at a time, in a process that does nothing else.

Usage: memory.py idle | calls | flight | runs
"""

import asyncio
import json
import sys

import anyio
import psutil

from lineshaft import Limits, Policy, Session, tool

MB = 1_000_000


def used() -> float:
    """Return megabytes of this process and its workers: proportional set size where it is told."""
    this = psutil.Process()
    told = [p.memory_full_info() for p in (this, *this.children(recursive=True))]
    return sum(getattr(each, "pss", each.uss) for each in told) / MB


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def session(**more: object) -> Session:
    """Return a session that may make as many calls as it likes."""
    limits = Limits(seconds=600, calls=1_000_000)
    return Session([add, *more.values()], policy=Policy(mode="read"), limits=limits)


async def idle() -> str:
    """Measure a session that has run one script and waits."""
    before = used()
    async with session() as held:
        (await held.run("return await add(a=1, b=2)")).raise_for_status()
        await anyio.sleep(0.2)
        return f"an idle session: {used() - before:.0f} MB with its workers and checker"


async def calls() -> str:
    """Measure what 10,000 calls leave behind."""
    async with session() as held:
        script = "n = 0\nfor i in range(count):\n    n = await add(a=n, b=1)\nreturn n"
        (await held.run(script, inputs={"count": 100})).raise_for_status()
        before = used()
        result = await held.run(script, inputs={"count": 10_000})
        after = used()
        record = len(json.dumps(result.to_dict()["calls"])) / MB
        return (
            f"10,000 calls in one run: {after - before:.0f} MB more in host and workers,"
            f" with the result still held ({record:.1f} MB as JSON)"
        )


async def flight() -> str:
    """Measure 200 runs that wait for each other."""
    arrived, everyone = 0, anyio.Event()

    @tool(effect="read")
    async def meet() -> int:
        """Return when all have come."""
        nonlocal arrived
        arrived += 1
        if arrived == 200:
            everyone.set()
        await everyone.wait()
        return arrived

    async with session(meet=meet) as held:
        runs = [await held.start("return await meet()") for _ in range(200)]
        peak = 0.0
        while not everyone.is_set():
            peak = max(peak, used())
            await anyio.sleep(0.1)
        peak = max(peak, used())
        values = {(await run.result()).value for run in runs}
        return f"200 runs in flight: {peak:.0f} MB in host and workers (answers: {values})"


async def runs() -> str:
    """Measure what 1,000 runs, one after another, leave behind."""
    async with session() as held:
        for _ in range(20):
            (await held.run("return await add(a=1, b=2)")).raise_for_status()
        before = used()
        for number in range(1_000):
            (await held.run(f"return await add(a={number}, b=2)")).raise_for_status()
        return f"1,000 runs one after another: {used() - before:+.0f} MB"


SUBJECTS = {"idle": idle, "calls": calls, "flight": flight, "runs": runs}


if __name__ == "__main__":
    print(asyncio.run(SUBJECTS[sys.argv[1]]()))
