"""Lineshaft beside the bare engine: times and ratios, in one process, turn by turn.

Figures are medians; turns alternate, so that noise of the machine meets both. Nothing here is
asserted: a person reads it, and `docs/benchmarks.md` keeps a copy.
"""

import argparse
import asyncio
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import agent_figures
import engine_figures
import memory
import pausing
import serving
import staging
import wire
from bare import Bare

from lineshaft import Limits, Policy, Session, Tool, tool

Work = Callable[[str], Awaitable[object]]

EDITING = Path(__file__).with_name("editing.py")
"""A process of its own: it imports what tests do."""

ONE = "return await add(a=1, b=2)"
NEW = "return await add(a=1, b={})"
"""A script that nobody has read before."""

CALLS = 1_000
MANY = f"n = 0\nfor i in range({CALLS}):\n    n = await add(a=n, b=1)\nreturn n"
WIDE = "return sum(await asyncio.gather(*[add(a=i, b=1) for i in range(100)]))"


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, in the unit that its name says."""

    name: str
    bare: float
    ours: float

    def __str__(self) -> str:
        ratio = f"{self.ours / self.bare:5.2f}" if self.bare else "    -"
        added = self.ours - self.bare
        return f"| {self.name:<44} | {self.bare:8.2f} | {self.ours:9.2f} | {added:8.2f} | {ratio} |"


READY = 0.05
"""Seconds before a run in which an engine makes an instance ready."""


async def medians(
    bare: Work, ours: Work, script: str, *, turns: int, pause: float
) -> tuple[float, float]:
    """Return milliseconds of both, taken in turns; the number of the turn goes into the script."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns + 3):
        for work, kept in zip((bare, ours), times, strict=True):
            text = script.replace("{}", str(turn))
            await asyncio.sleep(pause)
            start = time.perf_counter()
            await work(text)
            kept.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[0][3:]), statistics.median(times[1][3:])


async def scripts(*, check: bool, turns: int) -> list[Row]:
    """Compare runs of scripts, with or without the check before them."""
    added: Tool = tool(effect="read")(add)
    session = Session(
        [added],
        policy=Policy(mode="read"),
        limits=Limits(seconds=600, calls=1_000_000),
        check="error" if check else "off",
    )
    label = "checked" if check else "unchecked"
    async with Bare({"add": add}) as bare, session:

        async def ours(script: str) -> None:
            (await session.run(script)).raise_for_status()

        async def both(script: str, turns: int, pause: float = READY) -> tuple[float, float]:
            return await medians(bare.run, ours, script, turns=turns, pause=pause)

        new = await both(NEW, turns * 10)
        one = await both(ONE, turns * 10)
        after = await both(ONE, turns * 10, pause=0)
        many = await both(MANY, turns)
        wide = await both(WIDE, turns * 3)
    trip = [(total - start) / (CALLS - 1) * 1000 for total, start in zip(many, one, strict=True)]
    return [
        Row(f"run with one call, new script, {label}, ms", *new),
        Row(f"the same script again, {label}, ms", *one),
        Row(f"again, straight after a run, {label}, ms", *after),
        Row(f"one call's round trip, {label}, us", *trip),
        Row(f"{CALLS:,} sequential calls, {label}, ms", *many),
        Row(f"fan-out of 100, {label}, ms", *wide),
    ]


def cpu(*arguments: str, times: int = 7) -> float:
    """Return the CPU time of a Python process in milliseconds."""
    spent: list[float] = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent) * 1000


def starts() -> list[Row]:
    """Compare the start of the interpreter alone with ours."""
    nothing = cpu("-c", "pass")
    return [
        Row("CPU of `import lineshaft`, ms", nothing, cpu("-c", "import lineshaft")),
        Row("CPU of `lineshaft --help`, ms", nothing, cpu("-m", "lineshaft", "--help")),
    ]


def remembered() -> list[str]:
    """Return what is said of memory by processes that do nothing else."""
    script = str(Path(memory.__file__))
    return [
        subprocess.run(
            [sys.executable, script, name], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in memory.SUBJECTS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Lineshaft beside the engine")
    parser.add_argument("--quick", action="store_true", help="take fewer turns")
    parser.add_argument("--pandas", action="store_true", help="install pandas, from the network")
    wanted = parser.parse_args()
    turns = 3 if wanted.quick else 20
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    print(f"| {'median':<44} | {'bare':>8} | {'lineshaft':>9} | {'added':>8} | ratio |")
    print(f"| {'-' * 44} | {'-' * 7}: | {'-' * 8}: | {'-' * 7}: | {'-' * 4}: |")
    for check in (False, True):
        for row in asyncio.run(scripts(check=check, turns=turns)):
            print(row, flush=True)
    for row in starts():
        print(row, flush=True)
    for name, took in asyncio.run(pausing.figures(turns)):
        print(Row(name, 0, took), flush=True)
    for row in asyncio.run(agent_figures.figures(turns)):
        print(Row(*row), flush=True)
    asyncio.run(engine_figures.show(turns, install=wanted.pandas))
    asyncio.run(staging.show_staging(turns))
    asyncio.run(serving.show(turns))
    wire.show(turns)
    sys.stdout.flush()
    quickly = ["--quick"] if wanted.quick else []
    subprocess.run([sys.executable, str(EDITING), *quickly], check=True)
    print()
    for line in remembered():
        print(f"* {line}")


if __name__ == "__main__":
    main()
