"""What a run left behind is gone when it is over, whoever of it is the last to go."""

import asyncio

import pytest

from engines.play import Play
from engines.processes import DAEMON, inside, steady
from lineshaft.engines._cpython import CPythonEngine

LEFT: dict[str, str] = {
    "a daemon": DAEMON,
    "a child": "import os, time\nif os.fork() == 0:\n    while True: time.sleep(0.001)\n",
    "a child of a thread": """
import os, threading, time
def leave():
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(0.001)
thread = threading.Thread(target=leave)
thread.start()
thread.join()
""",
    "a child of a thread that goes on": """
import os, threading, time
left = threading.Event()
def leave():
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(0.001)
    left.set()
    time.sleep(60)
threading.Thread(target=leave, daemon=True).start()
left.wait()
""",
}


@pytest.mark.parametrize("source", LEFT.values(), ids=LEFT)
async def test_what_a_run_left_is_gone_when_it_is_over(
    held: Play, jailed: CPythonEngine, source: str
) -> None:
    """Not some time after it: two runs with a spare child each, seen at once."""
    before = await steady(jailed)
    await held.value(source + "return 1")
    assert inside() <= before


async def test_the_end_of_an_engine_waits_for_the_ends_of_its_runs() -> None:
    before, begun = inside(), asyncio.all_tasks()
    engine = CPythonEngine()
    for _ in range(3):
        assert await Play(engine).value("return 1") == 1
    await engine.aclose()
    assert asyncio.all_tasks() == begun
    assert inside() <= before


def test_an_engine_outlives_event_loops_that_are_closed_straight_after_a_run() -> None:
    before = inside()
    engine = CPythonEngine()
    for _ in range(2):
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(Play(engine).value("return 1")) == 1
        loop.close()
    asyncio.run(engine.aclose())
    assert inside() <= before
