"""Pauses that hosts make use of: in parts, after the host is gone, over their record."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.paused import Keeper, Kept
from lineshaft.values import Engine, Exceeded, Limits, Raised, Returned, Suspended

FAN_OUT = """
async def job(n):
    try:
        return await (ask(n) if n % 4 == 3 else give(n))
    except ToolError as e:
        return e.code
return await asyncio.gather(*[job(n) for n in range(16)])
"""


@pytest.fixture
def keeper(engine: Engine) -> Keeper:
    """Return a host that pauses."""
    return Keeper(engine)


def once(keeper: Keeper) -> bool:
    """Return whether nothing was done twice."""
    return max(Counter(keeper.kept.acted).values()) == 1


async def test_calls_that_ask_wait_together_and_the_others_are_made(keeper: Keeper) -> None:
    assert isinstance(await keeper.part(FAN_OUT), Suspended)
    assert sorted(keeper.pending.values()) == ["11", "15", "3", "7"]
    assert len(keeper.kept.acted) == 12
    outcome = await keeper.part(FAN_OUT, {"3": True, "7": False, "11": True, "15": False})
    assert outcome == Returned(
        value=["E_DENIED" if n in (7, 15) else n for n in range(16)],
    )
    assert len(keeper.kept.acted) == 14
    assert once(keeper)


async def test_answers_may_come_in_parts(keeper: Keeper) -> None:
    assert isinstance(await keeper.part(FAN_OUT), Suspended)
    assert isinstance(await keeper.part(FAN_OUT, {"3": True, "7": False}), Suspended)
    assert sorted(keeper.pending.values()) == ["11", "15"]
    ids = set(keeper.pending)
    assert isinstance(await keeper.part(FAN_OUT), Suspended)
    assert set(keeper.pending) == ids
    outcome = await keeper.part(FAN_OUT, {"*": True})
    assert outcome == Returned(value=["E_DENIED" if n == 7 else n for n in range(16)])
    assert once(keeper)


ONE_AFTER_ANOTHER: dict[str, tuple[str, object]] = {
    "a loop": (
        "found = []\nfor n in range(3):\n    found += [await give(n), await ask(n)]\nreturn found",
        [0, 0, 1, 1, 2, 2],
    ),
    "a loop that tries again": (
        (
            "found = []\nfor n in range(3):\n    try:\n        found.append(await ask(n))\n"
            "    except ToolError:\n        found.append(await give(-1))\nreturn found"
        ),
        [0, 1, 2],
    ),
    "functions in functions": (
        (
            "async def inner(n):\n    return await ask(n) + await give(10)\n"
            "async def outer(n):\n    return [n, await inner(n)]\n"
            "return [await outer(n) for n in range(3)]"
        ),
        [[0, 10], [1, 11], [2, 12]],
    ),
    "a call beside one that is waited for": (
        (
            "async def f(n):\n    return await ask(n)\n"
            "async def g(n):\n    await give(7)\n    return await f(n)\n"
            "return await asyncio.gather(*[g(n) for n in range(3)])"
        ),
        [0, 1, 2],
    ),
}


@pytest.mark.parametrize(("source", "expected"), ONE_AFTER_ANOTHER.values(), ids=ONE_AFTER_ANOTHER)
async def test_a_run_pauses_as_often_as_it_asks(
    keeper: Keeper, source: str, expected: object
) -> None:
    outcome = await keeper.part(source)
    parts = 0
    while isinstance(outcome, Suspended):
        parts += 1
        [argument] = set(keeper.pending.values()) if len(keeper.pending) == 1 else {"*"}
        outcome = await keeper.part(source, {argument: True})
    assert outcome == Returned(value=expected)
    assert 1 <= parts <= 3
    assert once(keeper)


CLEANING_UP = """
class Room:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        print("in", self.name)
    def __exit__(self, *error):
        print("out", self.name)
async def f():
    with Room("a"):
        try:
            while True:
                await ask("x")
                break
        except BaseException:
            await give("except")
            raise
        finally:
            print("finally")
            await give("finally")
await f()
print("end")
"""


async def test_nothing_of_a_script_runs_behind_a_pause(keeper: Keeper) -> None:
    assert isinstance(await keeper.part(CLEANING_UP), Suspended)
    assert keeper.printed == "in a\n"
    assert keeper.kept.acted == []
    assert isinstance(await keeper.part(CLEANING_UP), Suspended)
    assert keeper.kept.acted == []
    outcome = await keeper.part(CLEANING_UP, {"x": True})
    assert isinstance(outcome, Returned)
    assert keeper.printed.endswith("finally\nout a\nend\n")
    assert [keeper.kept.finished[call] for call in keeper.kept.acted] == ["x", "finally"]


UNCERTAIN = """
import random, time, datetime
facts = [random.random(), random.Random().random(), random.sample(range(99), 5)]
facts += [time.time(), time.monotonic(), time.perf_counter(), time.time_ns()]
facts += [str(datetime.datetime.now()), str(datetime.date.today()), time.strftime("%H:%M:%S")]
facts += [str(datetime.datetime.now(datetime.timezone.utc)), list({"a", "b", "c", "dd", "ee"})]
await give(facts)
await ask("x")
return [facts, random.random(), time.time() >= facts[3], time.monotonic() >= facts[4]]
"""


async def test_what_a_script_took_from_the_world_it_takes_again(keeper: Keeper) -> None:
    outcome = await keeper.whole(UNCERTAIN, [{}, {"x": True}])
    assert isinstance(outcome, Returned)
    facts = keeper.kept.finished["1"]
    [again, _, *sound] = cast("list[object]", outcome.value)
    assert again == facts
    assert sound == [True, True]
    assert await keeper.replay(UNCERTAIN) == outcome
    other = Keeper(keeper.engine, Kept())
    other.kept.replay.seed = "17" * 32
    assert await other.whole(UNCERTAIN, [{"x": True}]) != outcome


TIMED = """
import time
async def f(n):
    await give(n)
    await asyncio.sleep(0.002 * n)
    found.append(await give(n + 100))
found = []
await asyncio.gather(*[f(n) for n in range(6)], asyncio.sleep(0.05))
start = time.monotonic()
time.sleep(0.03)
assert time.monotonic() - start >= 0.02
return [found, time.monotonic()]
"""


async def test_sleeps_beside_calls_are_over_when_they_were(keeper: Keeper) -> None:
    for seed in range(5):
        one = Keeper(keeper.engine, seed=seed)
        outcome = await one.part(TIMED)
        assert isinstance(outcome, Returned), outcome
        assert await one.replay(TIMED) == outcome


Jobs = list[tuple[int, bool]]
JOBS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=7)

READ_THEN_WRITE = """
log = []
async def job(n, reads, asks):
    total = n
    for r in range(reads):
        total += await give(n * 10 + r)
        log.append(total)
    log.append(await (ask(total + 1000 * n) if asks else give(-n)))
    return await give(len(log))
return [await asyncio.gather(*[job(n, *jobs[n]) for n in range(len(jobs))]), log]
"""


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(jobs=JOBS, seed=st.integers(0, 99), late=st.booleans())
async def test_any_fan_out_goes_on_to_the_calls_it_would_have_made(
    keeper: Keeper, jobs: Jobs, seed: int, late: bool
) -> None:
    source = f"jobs = {jobs!r}\n{READ_THEN_WRITE}"
    paused = Keeper(keeper.engine, seed=seed)
    outcome = await paused.part(source)
    while isinstance(outcome, Suspended):
        first = next(iter(paused.pending.values()))
        outcome = await paused.part(source, {first if late else "*": True})
    assert isinstance(outcome, Returned), outcome
    assert once(paused)
    straight = Keeper(keeper.engine, seed=seed)
    assert isinstance(await straight.part(source, {"*": True}), Returned)
    for one in (paused, straight):
        assert sorted(one.kept.acted, key=int) == sorted(one.kept.made, key=int)
        asked = [text for text in one.kept.made.values() if text.startswith("ask")]
        assert len(asked) == sum(asks for _, asks in jobs)
    before = list(paused.kept.acted)
    assert await paused.replay(source) == outcome
    assert paused.kept.acted == before


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from engines.paused import Keeper
from lineshaft.engines import make_cpython, make_wasm
from lineshaft.values import PythonOptions, Suspended

async def main():
    name, path, source = sys.argv[1:]
    options = PythonOptions()
    engine = make_wasm(options) if name == "wasm" else make_cpython(options)
    keeper = Keeper(engine)
    assert isinstance(await keeper.part(source), Suspended)
    keeper.kept.write(Path(path))
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


@pytest.mark.parametrize("source", [FAN_OUT, UNCERTAIN], ids=["fan out", "uncertain"])
async def test_a_run_goes_on_when_its_host_was_killed(
    keeper: Keeper, tmp_path: Path, source: str
) -> None:
    path = tmp_path / "kept"
    await asyncio.to_thread(_part, keeper.engine.name, path, source)
    after = Keeper(keeper.engine, Kept.read(path))
    outcome = await after.part(source, {"*": True})
    assert isinstance(outcome, Returned), outcome
    assert once(after)
    assert await after.replay(source) == outcome


async def test_the_limits_hold_after_a_pause(keeper: Keeper) -> None:
    limits = Limits(seconds=20, memory_mb=64, recursion=100)
    deep = "await ask(1)\ndef f(n):\n    return f(n + 1)\nf(0)"
    await keeper.part(deep, limits=limits)
    outcome = await keeper.part(deep, {"1": True}, limits=limits)
    assert isinstance(outcome, Raised)
    assert outcome.kind == "RecursionError"
    big = Keeper(keeper.engine)
    much = "await ask(1)\nx = []\nfor n in range(1000): x.append('x' * 1_000_000 + str(n))"
    await big.part(much, limits=limits)
    outcome = await big.part(much, {"1": True}, limits=limits)
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == "memory_mb"


async def test_waiting_is_told_anew_when_a_call_that_ended_is_no_help(keeper: Keeper) -> None:
    source = """
async def f():
    return await ask("x")
async def g(n):
    return await give(n)
async def h():
    await give(0)
    return await f()
return await asyncio.gather(*[g(n) for n in range(5)], h())
"""
    outcome = await keeper.whole(source, [{"x": True}])
    assert outcome == Returned(value=[0, 1, 2, 3, 4, "x"])
    assert await keeper.replay(source) == outcome
    assert once(keeper)


async def test_clocks_go_on_after_a_pause_and_wall_time_is_real_again(keeper: Keeper) -> None:
    source = """
import time
before = [time.monotonic(), time.time()]
await ask(1)
return [before, [time.monotonic(), time.time()]]
"""
    assert isinstance(await keeper.part(source), Suspended)
    real = time.time()
    outcome = await keeper.part(source, {"1": True})
    assert isinstance(outcome, Returned)
    before, after = cast("list[list[float]]", outcome.value)
    assert before[0] <= after[0] <= before[0] + 5
    assert before[1] <= real <= after[1] <= time.time()


@pytest.mark.long
@pytest.mark.no_cover
async def test_a_million_readings_of_clocks_stay_bounded(keeper: Keeper) -> None:
    source = "import time\nfor _ in range(1_000_000): time.monotonic()\nawait ask(1)"
    assert isinstance(await keeper.part(source, limits=Limits(seconds=300)), Suspended)
    replay = keeper.kept.replay
    assert len(replay.readings) <= 8_000_016
    assert replay.torn is (len(replay.readings) > 8_000_000)


def _part(name: str, path: Path, source: str) -> None:
    """Run a part of a script in a process of its own, which is killed."""
    tests = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, name, path, source],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path])},
        check=False,
        timeout=60,
    )
    assert ended.returncode == -9
