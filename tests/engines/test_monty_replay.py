"""What is the small engine's own in a run that may be executed again."""

from collections.abc import Iterator

import anyio
import pytest

from engines.paused import LIMITS, SEED, Keeper, Kept
from engines.play import Play
from lineshaft.engines import MontyEngine
from lineshaft.engines._monty_clocks import reads_clock_at_one_go
from lineshaft.values import Exceeded, Limits, Program, Returned, Suspended, Tape


@pytest.fixture(scope="module")
def monty() -> Iterator[MontyEngine]:
    """Return the engine, started once."""
    made = MontyEngine()
    yield made
    anyio.run(made.aclose)


async def value(engine: MontyEngine, source: str, tape: Tape) -> object:
    """Run a script that must return."""
    outcome = await engine.run(
        Program(source=source, tape=tape),
        Play(engine).dispatch,
        limits=LIMITS,
        output=lambda stream, text: None,
        waiting=lambda ids: "wait",
    )
    assert isinstance(outcome, Returned), outcome
    return outcome.value


AT_ONE_GO: dict[str, str] = {
    "a key": "import time\nreturn sorted([3, 1], key=lambda n: n + 0 * time.time())",
    "a named key": "import time\ndef f(n): return n * time.time()\nreturn sorted([3, 1], key=f)",
    "a filter": "return len(list(filter(lambda n: datetime.datetime.now(), [1, 2])))",
    "a function of a function": (
        "from time import time\ndef f(): return time()\nreturn list(map(lambda n: f() > n, [1]))"
    ),
    "a comparison": (
        "import time\nclass A:\n    def __eq__(self, other):\n        return time.time() > 0\n"
        "return A() == A()"
    ),
}


@pytest.mark.parametrize("source", AT_ONE_GO.values(), ids=AT_ONE_GO)
async def test_a_clock_that_cannot_be_asked_for_is_not_replayed(
    monty: MontyEngine, source: str
) -> None:
    tape = Tape(seed=SEED)
    assert await value(monty, source, tape)
    assert tape.torn


ASKED: dict[str, str] = {
    "by itself": "import time\nreturn time.time()",
    "in a function": "import time\ndef f(): return time.time()\nreturn [f() for _ in [1]]",
    "in a method": (
        "import time\nclass A:\n    def __init__(self): self.at = time.time()\nreturn A().at"
    ),
    "beside functions that look at none": (
        "days = [datetime.date(2020, 1, 2)]\n"
        "now = datetime.datetime.now()\n"
        "return sorted(days, key=lambda d: d.strftime('%d'))[0].year + 0 * now.year"
    ),
    "not at all": "times = {'time': 1}\nreturn max([times], key=lambda t: t['time'])['time']",
}


@pytest.mark.parametrize("source", ASKED.values(), ids=ASKED)
async def test_a_clock_that_can_be_asked_for_is_replayed(monty: MontyEngine, source: str) -> None:
    assert not reads_clock_at_one_go(source)
    tape = Tape(seed=SEED)
    said = await value(monty, source, tape)
    readings = list(tape.clock)
    assert await value(monty, source, tape) == said
    assert tape.clock == readings
    assert not tape.torn


@pytest.mark.parametrize("source", ["time(", "now = '" + "(" * 5000, "time = 1\n\0"])
def test_what_is_no_python_looks_at_no_clock(source: str) -> None:
    assert not reads_clock_at_one_go(source)


async def test_zones_and_days_are_those_of_the_reading(monty: MontyEngine) -> None:
    source = (
        "import time\nzone = datetime.timezone(datetime.timedelta(hours=2))\n"
        "return [datetime.datetime.now(zone).isoformat(), datetime.datetime.now().isoformat(),"
        " datetime.date.today().isoformat(), time.strftime('%H:%M')]"
    )
    tape = Tape(seed=SEED, clock=[1_600_000_000.25] * 4)
    assert await value(monty, source, tape) == [
        "2020-09-13T14:26:40.250000+02:00",
        "2020-09-13T12:26:40.250000",
        "2020-09-13",
        "12:26",
    ]


async def test_the_time_of_day_never_runs_backwards(monty: MontyEngine) -> None:
    tape = Tape(seed=SEED, clock=[4e9])
    source = "import time\nreturn [time.time(), time.time()]"
    assert await value(monty, source, tape) == [4e9, 4e9]
    assert tape.clock == [4e9, 4e9]


async def test_too_many_readings_are_not_kept(monty: MontyEngine) -> None:
    tape = Tape(seed=SEED)
    assert await value(monty, "import time\nfor _ in range(10_001): time.time()", tape) is None
    assert len(tape.clock) == 10_000
    assert tape.torn


async def test_what_was_slept_is_not_slept_again(monty: MontyEngine) -> None:
    tape = Tape(seed=SEED, clock=[0.0, 3600.0, 3600.0, 3601.0])
    source = "await asyncio.sleep(3600)\nimport time\ntime.sleep(1)\nreturn 1"
    assert await value(monty, source, tape) == 1
    assert len(tape.clock) == 4


async def test_a_state_takes_up_the_tape_where_it_was(monty: MontyEngine) -> None:
    keeper = Keeper(monty)
    source = (
        "import time\nfound = []\nfor n in range(3):\n    found.append(time.time())\n"
        "    await asyncio.sleep(0.001)\n    await ask(n)\nreturn found"
    )
    outcome = await keeper.whole(source, [{str(n): True} for n in range(3)])
    assert isinstance(outcome, Returned)
    assert len(keeper.kept.tape.clock) == 9
    assert await keeper.replay(source) == outcome
    assert len(keeper.kept.tape.clock) == 9


async def test_time_slept_before_a_pause_counts_after_it(monty: MontyEngine) -> None:
    limits = Limits(seconds=0.3)
    keeper = Keeper(monty, Kept())
    source = "await asyncio.sleep(0.2)\nawait ask(1)\nawait asyncio.sleep(0.2)"
    assert isinstance(await keeper.part(source, limits=limits), Suspended)
    outcome = await keeper.part(source, {"1": True}, limits=limits)
    assert isinstance(outcome, Exceeded)
    assert outcome.limit == "seconds"


async def test_a_call_that_ended_beside_the_one_that_asks_is_not_repeated(
    monty: MontyEngine,
) -> None:
    source = """
def f():
    return ask("x")
async def g():
    return await give(1)
async def h():
    return f()
return await asyncio.gather(g(), h())
"""
    for seed in range(6):
        keeper = Keeper(monty, seed=seed)
        assert await keeper.whole(source, [{}, {"x": True}]) == Returned(value=[1, "x"])
        assert sorted(keeper.kept.acted) == sorted(set(keeper.kept.acted))
        assert len(keeper.kept.acted) == 2
