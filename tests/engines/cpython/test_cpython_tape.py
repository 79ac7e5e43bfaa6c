"""What a script of full Python takes from the world is the same when it is executed again."""

import asyncio
from collections.abc import Collection
from typing import Literal

import anyio
import pytest

from engines.paused import LIMITS, SEED, Keeper
from engines.play import Play
from lineshaft.engines._cpython import CPythonEngine
from lineshaft.values import Crashed, Outcome, Program, Returned, Tape, Value


@pytest.fixture
def keeper(engine: CPythonEngine) -> Keeper:
    """Return a host that pauses."""
    return Keeper(engine)


async def run(engine: CPythonEngine, source: str, tape: Tape | None) -> Outcome:
    """Run a script with a tape."""
    program = Program(source=source, tools=frozenset({"give", "hold"}), tape=tape)
    with anyio.fail_after(20):
        return await engine.run(
            program,
            Play(engine).dispatch,
            limits=LIMITS,
            output=lambda stream, text: None,
            waiting=lambda ids: "wait",
        )


async def value(engine: CPythonEngine, source: str, tape: Tape | None = None) -> object:
    """Run a script that must return."""
    outcome = await run(engine, source, tape or Tape(seed=SEED))
    assert isinstance(outcome, Returned), outcome
    return outcome.value


CHANCE: dict[str, str] = {
    "random": "import random\nreturn [random.random(), random.Random().random()]",
    "random, seeded anew": "import random\nrandom.seed()\nreturn random.random()",
    "the system's random": "import random\nreturn random.SystemRandom().random()",
    "bytes": "import os\nreturn [f(n).hex() for f in (os.urandom, os.getrandom) for n in (3, 999)]",
    "secrets": "import secrets\nreturn [secrets.token_hex(), secrets.choice(range(10**9))]",
    "uuid": "import uuid\nreturn [str(uuid.uuid4()), str(uuid.uuid4())]",
    "uuid of the time": "import uuid\nreturn [str(uuid.uuid1()) for _ in range(3)]",
    "names of files": "import tempfile\nreturn tempfile.mktemp(dir='/')",
}


@pytest.mark.parametrize("source", CHANCE.values(), ids=CHANCE)
async def test_chance_is_the_same_for_the_same_seed(engine: CPythonEngine, source: str) -> None:
    tape = Tape(seed=SEED)
    first = await value(engine, source, tape)
    assert await value(engine, source, tape) == first
    assert await value(engine, source, Tape(seed="17" * 32)) != first


async def test_uuids_of_the_time_are_what_they_say(engine: CPythonEngine) -> None:
    source = (
        "import uuid, time\nfound = [uuid.uuid1() for _ in range(50)]\n"
        "age = time.time() - (found[0].time / 1e7 - 12219292800)\n"
        "return [len(set(found)), {u.version for u in found} == {1}, 0 <= age < 5,"
        " {u.variant for u in found} == {uuid.RFC_4122}]"
    )
    assert await value(engine, source) == [50, True, True, True]


async def test_sets_of_texts_have_one_order(engine: CPythonEngine) -> None:
    source = "return [list({str(n) for n in range(50)}), hash('x')]"
    other = CPythonEngine()
    try:
        assert await value(other, source) == await value(engine, source)
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
    tape = Tape(seed=SEED)
    source = f"{CLOCKS}\nfirst = read()\nawait give(1)\nreturn [first, read()]"
    said = await value(engine, source, tape)
    readings = list(tape.clock)
    assert await value(engine, source, tape) == said
    assert tape.clock == readings
    assert not tape.torn


async def test_clocks_go_on_from_where_they_were(engine: CPythonEngine) -> None:
    tape = Tape(seed=SEED)
    source = (
        "import time\nreturn [time.time() + 0, time.monotonic() + 0, time.perf_counter()]"
        "\n".replace("return", "said =")
        + "said += [time.time(), time.monotonic(), time.perf_counter(), time.process_time()]\n"
        "return said"
    )
    await value(engine, source, tape)
    tape.clock[:3] = [n + 1e6 for n in tape.clock[:3]]
    del tape.clock[3:]
    said = await value(engine, source, tape)
    assert isinstance(said, list)
    day, steady, fine, *later = said  # pyright: ignore[reportUnknownVariableType]  numbers
    assert day <= later[0] < day + 20
    assert steady <= later[1] < steady + 20
    assert fine <= later[2] < fine + 20
    assert len(tape.clock) == 7


async def test_what_was_slept_is_not_slept_again(engine: CPythonEngine) -> None:
    source = "await asyncio.sleep(3600)\nimport time\ntime.sleep(3600)\nreturn time.monotonic()"
    tape = Tape(seed=SEED, clock=[10.0, 3611.0, 7212.0, 7213.0])
    assert await value(engine, source, tape) == 7213.0


async def test_a_time_limit_runs_out_again_and_not_later(engine: CPythonEngine) -> None:
    source = (
        "try:\n    await asyncio.wait_for(asyncio.sleep(9000), 3600)\n"
        "except TimeoutError:\n    return 'over'"
    )
    tape = Tape(seed=SEED)
    outcome = await run(engine, source.replace("3600", "0.01"), tape)
    assert outcome == Returned(value="over")
    # Its readings: when the limit began, when the sleep did, and when the first of both was over.
    tape.clock[-1] += 3600
    assert await run(engine, source, tape) == Returned(value="over")


PYTHON_LIKE = """
import time, datetime, pickle, random
class A:
    now = time.time
    clock = time.perf_counter
    nap = time.sleep
class Day(datetime.datetime):
    pass
A().nap(0)
await asyncio.sleep(0)
return [
    type(A().now()).__name__, type(A().clock()).__name__, pickle.loads(pickle.dumps(time.time))
    is time.time, time.time.__name__, time.time.__module__, type(Day.now()).__name__,
    type(Day.utcnow()).__name__, Day.now(datetime.UTC).tzinfo is datetime.UTC,
    type(datetime.datetime.now()) is datetime.datetime, callable(time.monotonic_ns),
    isinstance(asyncio.create_task(asyncio.sleep(0)), asyncio.Task),
    asyncio.current_task().get_name() == asyncio.current_task().get_name(),
]
"""


async def test_what_stands_in_is_used_like_what_it_stands_for(engine: CPythonEngine) -> None:
    expected = ["float", "float", True, "time", "time", "Day", "Day", *[True] * 5]
    assert await value(engine, PYTHON_LIKE) == expected


WRONG: dict[str, str] = {
    "time.sleep('x')": "TypeError",
    "time.sleep(-1)": "ValueError",
    "time.time(1)": "TypeError",
    "time.localtime('x')": "TypeError",
    "time.strftime()": "TypeError",
    "time.clock_gettime(99999)": "OSError",
    "os.urandom(-1)": "ValueError",
    "os.urandom('x')": "TypeError",
    "list(asyncio.as_completed(asyncio.sleep(0)))": "TypeError",
}


@pytest.mark.parametrize("call", WRONG)
async def test_what_stands_in_refuses_what_it_should(engine: CPythonEngine, call: str) -> None:
    source = f"import os, time, warnings\nwarnings.simplefilter('ignore')\ntry:\n    {call}\n"
    source += "except Exception as e:\n    return type(e).__name__"
    assert await value(engine, source) == WRONG[call]


async def test_nothing_stands_in_where_nobody_replays(engine: CPythonEngine) -> None:
    source = (
        "import time, os, random, datetime, uuid\n"
        "return [type(f).__name__ for f in (time.time, os.urandom, datetime.datetime.now)]"
        " + [asyncio.Task.__module__, uuid.uuid4() != uuid.uuid4()]"
    )
    kind = "builtin_function_or_method"
    expected = Returned(value=[kind, kind, kind, "_asyncio", True])
    assert await run(engine, source, None) == expected


async def test_too_many_readings_are_not_kept_and_the_clock_goes_on(
    engine: CPythonEngine,
) -> None:
    tape = Tape(seed=SEED)
    source = "import time\nsaid = [time.time() for _ in range(10_100)]\nreturn said == sorted(said)"
    assert await value(engine, source, tape) is True
    assert len(tape.clock) == 10_000
    assert tape.torn


async def test_a_run_that_reads_just_as_often_as_is_kept_is_whole(engine: CPythonEngine) -> None:
    tape = Tape(seed=SEED)
    source = "import time\nfor n in range(10_000):\n    time.time()\n    n % 999 or await give(n)"
    await value(engine, source, tape)
    assert len(tape.clock) == 10_000
    assert not tape.torn


ORDERS: dict[str, str] = {
    "as completed": (
        "for each in asyncio.as_completed([give(n) for n in range(9)]):\n"
        "    found.append(await give(await each))"
    ),
    "a set of tasks": (
        "left = {asyncio.create_task(give(n)) for n in range(9)}\n"
        "while left:\n"
        "    done, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)\n"
        "    for each in done:\n        found.append(await give(each.result()))"
    ),
    "a group": (
        "async def f(n):\n    found.append(await give(n))\n    found.append(await give(n + 10))\n"
        "async with asyncio.TaskGroup() as group:\n"
        "    for n in range(9): group.create_task(f(n))"
    ),
    "a queue": (
        "queue = asyncio.Queue()\n"
        "async def work():\n    while True:\n        found.append(await give(await queue.get()))\n"
        "        queue.task_done()\n"
        "workers = [asyncio.create_task(work()) for _ in range(3)]\n"
        "for n in range(9): queue.put_nowait(n)\n"
        "await queue.join()\nfor worker in workers: worker.cancel()"
    ),
    "limits of time": (
        "async def f(n):\n    try:\n        async with asyncio.timeout(0.001 * n):\n"
        "            found.append(await give(n))\n    except TimeoutError:\n"
        "        found.append(-n)\n"
        "await asyncio.gather(*[f(n) for n in range(9)])"
    ),
    "a run in a run": (
        "await give(0)\nasync def f(n):\n    found.append(await give(n))\n"
        "async def g():\n    await asyncio.gather(*[f(n) for n in range(9)])\nasyncio.run(g())"
    ),
    "turns of the loop": (
        "async def f(n):\n    for _ in range(n):\n        await asyncio.sleep(0)\n"
        "    found.append(await give(n))\n    await asyncio.sleep(0)\n"
        "    found.append(await give(n + 10))\n"
        "await asyncio.gather(*[f(n) for n in range(9)])"
    ),
}


@pytest.mark.parametrize("source", ORDERS.values(), ids=ORDERS)
async def test_calls_come_in_the_same_order(engine: CPythonEngine, source: str) -> None:
    for seed in range(4):
        keeper = Keeper(engine, seed=seed)
        text = f"found = []\n{source}\nreturn found"
        outcome = await keeper.part(text)
        assert isinstance(outcome, Returned), outcome
        assert all(call.replayable for call in keeper.calls)
        assert await keeper.replay(text) == outcome


async def test_calls_of_threads_say_that_they_may_come_in_another_order(play: Play) -> None:
    source = "await give(1)\nasyncio.run(give(2))\nawait asyncio.to_thread(give, 3)\nawait give(4)"
    await play.value(source)
    assert [(c.positional, c.replayable) for c in play.calls] == [
        ((1,), True),
        ((2,), True),
        ((3,), False),
        ((4,), False),
    ]


async def test_threads_and_forked_processes_have_chances_of_their_own(
    engine: CPythonEngine,
) -> None:
    source = (
        "import os, threading\nfound = []\n"
        "t = threading.Thread(target=lambda: found.append(os.urandom(9)))\nt.start()\nt.join()\n"
        "reading, writing = os.pipe()\n"
        "if not os.fork():\n    os.write(writing, os.urandom(9))\n    os._exit(0)\n"
        "found += [os.read(reading, 9), os.urandom(9)]\nreturn [f.hex() for f in found]"
    )
    first, second = await value(engine, source), await value(engine, source)
    assert isinstance(first, list)
    assert isinstance(second, list)
    same = [a == b for a, b in zip(first, second, strict=True)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  texts
    assert same == [False, False, True]


async def test_a_process_that_runs_beside_a_call_goes_on(play: Play) -> None:
    source = (
        "import sys\n"
        "other = await asyncio.create_subprocess_exec(\n"
        "    sys.executable, '-S', '-c', 'input()', stdin=asyncio.subprocess.PIPE,\n"
        "    stdout=asyncio.subprocess.PIPE)\n"
        "task = asyncio.create_task(other.stdout.read())\n"
        "await hold()\n"
    )
    task = asyncio.create_task(play(source))
    await play.held.wait()
    await asyncio.sleep(0.05)
    asked = list(play.asked)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asked == []


FORGED = """
import os, stat, struct, json
def is_wire(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
def forge(message):
    body = json.dumps(message).encode()
    for fd in filter(is_wire, range(3, 64)):
        try:
            os.write(fd, struct.pack("!I", len(body)) + body)
        except OSError:
            pass
"""


async def test_forged_readings_fill_no_memory_and_break_nothing_else(
    engine: CPythonEngine,
) -> None:
    tape = Tape(seed=SEED)
    source = FORGED + "for _ in range(50): forge({'type': 'clock', 'readings': [1.5] * 1000})"
    assert await run(engine, source, tape) == Returned(value=None)
    assert len(tape.clock) == 10_000
    assert tape.torn
    assert await run(engine, source, None) == Returned(value=None)
    for wrong in ("'1'", "['x']", "[1]", "[[1.5]]", "{}"):
        text = f"{FORGED}forge({{'type': 'clock', 'readings': {wrong}}})\nawait hold()"
        assert isinstance(await run(engine, text, Tape(seed=SEED)), Crashed)


async def test_an_answer_that_comes_early_waits_for_its_turn(engine: CPythonEngine) -> None:
    """The script computes, and turns to what came only when it has nothing else to do."""
    came = asyncio.Event()
    seen: list[str] = []

    def waiting(ids: Collection[str]) -> Literal["wait"]:
        came.set()
        return "wait"

    program = Program(
        source=(
            "found = []\nasync def f(n):\n    await give(n)\n    found.append(n)\n"
            "async def g():\n    for _ in range(2000):\n        await asyncio.sleep(0)\n"
            "    found.append('g')\n"
            "await asyncio.gather(f(1), f(2), g())\nreturn found"
        ),
        tools=frozenset({"give"}),
        tape=Tape(seed=SEED),
    )

    async def dispatch(call: object) -> Value:
        seen.append(str(call))
        return Value(None)

    outcome = await engine.run(
        program, dispatch, limits=LIMITS, output=lambda stream, text: None, waiting=waiting
    )
    assert outcome == Returned(value=["g", 1, 2])
    assert len(seen) == 2
