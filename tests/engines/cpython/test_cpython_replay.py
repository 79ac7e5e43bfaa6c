"""What a script of full Python takes from the world is the same when it is executed again."""

import os
import signal
from typing import cast

import pytest

from engines.play import Play, fresh
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.values import ReplayInputs, Returned, Suspended


async def value(engine: CPythonEngine, source: str, replay: ReplayInputs | None = None) -> object:
    """Run a script that must return."""
    outcome = await Play(engine)(source, replay=replay or fresh())
    assert isinstance(outcome, Returned), outcome
    return outcome.value


CHANCE: dict[str, str] = {
    "random": "import random\nreturn [random.random(), random.Random().random()]",
    "random, seeded anew": "import random\nrandom.seed()\nreturn random.random()",
    "the system's random": "import random\nreturn random.SystemRandom().random()",
    "bytes": "import os\nreturn [f(n).hex() for f in (os.urandom, os.getrandom) for n in (3, 999)]",
    "secrets": "import secrets\nreturn [secrets.token_hex(), secrets.choice(range(10**9))]",
    "uuid": "import uuid\nreturn [str(uuid.uuid4()), str(uuid.uuid4())]",
    "a uuid of the time": "import uuid\nreturn [u.clock_seq for u in (uuid.uuid1(), uuid.uuid1())]",
    "shuffling": "import random\nx = list(range(99))\nrandom.shuffle(x)\nreturn x",
}


@pytest.mark.parametrize("source", CHANCE.values(), ids=CHANCE)
async def test_chance_is_the_same_for_the_same_seed(engine: CPythonEngine, source: str) -> None:
    first = await value(engine, source)
    assert await value(engine, source) == first
    assert await value(engine, source, ReplayInputs(seed="17" * 32)) != first


async def test_chance_of_runs_without_a_seed_differs(play: Play) -> None:
    source = "import random, uuid\nreturn [random.random(), str(uuid.uuid4())]"
    assert await play.value(source) != await play.value(source)


IDENTITY = """
import random, uuid
class Thing: pass
things = [Thing() for _ in range(20)]
said = [id(things), repr(things[3]), [id(t) for t in set(things)], repr(lambda: 0),
        list({str(n) for n in range(50)}), hash("x"), random.random(), str(uuid.uuid4()),
        repr(await asyncio.gather(*[give(n) for n in range(3)])), id(asyncio.current_task())]
"""


async def test_what_a_run_printed_before_a_pause_it_prints_again_in_another_parent(
    jailed: CPythonEngine,
) -> None:
    other = CPythonEngine(options=jailed._options, jail=jailed._jail)  # pyright: ignore[reportPrivateUsage]  one like it
    first, second = Play(jailed), Play(other)
    try:
        for _ in range(5):
            replay = fresh()
            first.says = lambda ids: "suspend" if len(ids) == 1 else "wait"
            assert (
                await first(f"{IDENTITY}\nprint(said)\nawait hold()", replay=replay) == Suspended()
            )
            second.past = dict(first.past)
            second.release()
            assert isinstance(
                await second(f"{IDENTITY}\nprint(said)\nawait hold()", replay=replay), Returned
            )
        assert second.printed == first.printed
    finally:
        await other.aclose()


CLOCKS = """
import time, datetime, asyncio
def read():
    loop = asyncio.get_running_loop()
    return [
        time.time(), time.time_ns(), time.monotonic(), time.monotonic_ns(), time.perf_counter(),
        time.perf_counter_ns(), time.process_time(), time.process_time_ns(), time.thread_time(),
        time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        time.clock_gettime(time.CLOCK_BOOTTIME), list(time.localtime()), list(time.gmtime()),
        time.ctime(), time.asctime(), time.strftime("%X"), loop.time(),
        str(datetime.datetime.now()), str(datetime.datetime.now(datetime.UTC)),
        str(datetime.datetime.utcnow()), str(datetime.datetime.today()),
        str(datetime.date.today()),
    ]
"""


async def test_clocks_say_again_what_they_said(engine: CPythonEngine) -> None:
    replay = fresh()
    source = f"{CLOCKS}\nfirst = read()\nawait give(1)\nreturn [first, read()]"
    play = Play(engine)
    said = await play(source, replay=replay)
    assert isinstance(said, Returned)
    readings = replay.readings
    assert await play(source, replay=replay) == said
    assert replay.readings == readings
    assert not replay.torn


PYTHON_LIKE = """
import time, datetime, pickle, random
class A:
    now = time.time
    clock = time.perf_counter
class Day(datetime.datetime):
    pass
return [
    type(A().now()).__name__, type(A().clock()).__name__, pickle.loads(pickle.dumps(time.time))
    is time.time, time.time.__name__, time.time.__module__, type(Day.now()).__name__,
    type(Day.utcnow()).__name__, Day.now(datetime.UTC).tzinfo is datetime.UTC,
    type(datetime.datetime.now()) is datetime.datetime, callable(time.monotonic_ns),
]
"""


async def test_what_stands_in_is_used_like_what_it_stands_for(engine: CPythonEngine) -> None:
    expected = ["float", "float", True, "time", "time", "Day", "Day", *[True] * 3]
    assert await value(engine, PYTHON_LIKE) == expected


WRONG: dict[str, str] = {
    "time.time(1)": "TypeError",
    "time.localtime('x')": "TypeError",
    "time.strftime()": "TypeError",
    "time.clock_gettime(99999)": "OSError",
    "os.urandom(-1)": "ValueError",
    "os.urandom('x')": "TypeError",
}


@pytest.mark.parametrize("call", WRONG)
async def test_what_stands_in_refuses_what_it_should(engine: CPythonEngine, call: str) -> None:
    source = f"import os, time, warnings\nwarnings.simplefilter('ignore')\ntry:\n    {call}\n"
    source += "except Exception as e:\n    return type(e).__name__"
    assert await value(engine, source) == WRONG[call]


async def test_a_run_whose_parent_died_goes_on_over_its_record(jailed: CPythonEngine) -> None:
    play, replay = Play(jailed), fresh()
    source = "import time\na = time.time()\nx = await give(1)\ny = await hold()\nreturn [x, y, a]"
    await play.suspend(source, replay)
    assert jailed._forks is not None  # pyright: ignore[reportPrivateUsage]  known to it alone
    os.kill(jailed._forks.pid, signal.SIGKILL)  # pyright: ignore[reportPrivateUsage]  as above
    play.release()
    outcome = await play(source, replay=replay)
    assert isinstance(outcome, Returned)
    assert cast("list[object]", outcome.value)[:2] == [1, "2"]
