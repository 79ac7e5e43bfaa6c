"""Many runs: at once, one after another, in threads, beside each other."""

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest

from engines.play import TOOLS, Play, forever, unseen
from lineshaft.engines.wasm import WasmEngine
from lineshaft.values import Call, Done, Exceeded, Limits, Program, Raised, Returned, Value


class OwnError(Exception):
    """What a host function raised, for one run."""


async def _one(engine: WasmEngine, number: int, chance: random.Random) -> None:
    """Run a script that is ended by an error of its own, at some point."""
    at = chance.randrange(4)
    way = chance.choice(["script", "host", "output"])

    async def dispatch(call: Call) -> Done:
        if way == "host" and call.id == str(at + 1):
            raise OwnError(number)
        if chance.random() < 0.5:
            await asyncio.sleep(0)
        return Value(None)

    last = {
        "script": f"raise ValueError('{number}')",
        "host": "await give()",
        "output": f"print('x' * {number + 10_000})",
    }[way]
    source = "\n".join(["await give()"] * at + [last])
    run = engine.run(
        Program(source=source, tools=TOOLS),
        dispatch,
        limits=Limits(seconds=60, stdout_bytes=1),
        output=unseen,
        waiting=forever,
    )
    if way == "host":
        with pytest.raises(OwnError) as raised:
            await run
        assert raised.value.args == (number,)
        return
    outcome = await run
    if way == "script":
        assert isinstance(outcome, Raised)
        assert (outcome.kind, outcome.message) == ("ValueError", str(number))
    else:
        assert isinstance(outcome, Exceeded)
        assert outcome.limit == "stdout_bytes"


@pytest.mark.no_cover
def test_eight_hundred_runs_on_eight_threads_end_by_errors_of_their_own(
    engine: WasmEngine,
) -> None:
    wrong: list[BaseException] = []

    async def work(thread: int) -> None:
        chance = random.Random(thread)  # noqa: S311  no secret
        for number in range(100):
            await _one(engine, thread * 1_000 + number, chance)

    def loop(thread: int) -> None:
        try:
            asyncio.run(work(thread))
        except BaseException as error:  # noqa: BLE001  shown below
            wrong.append(error)

    threads = [threading.Thread(target=loop, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


async def test_two_hundred_runs_wait_for_one_another(play: Play) -> None:
    source = "await meet(200)\nreturn await give(1)"
    async with asyncio.timeout(120):
        run = play.engine.run
        outcomes = await asyncio.gather(
            *[
                run(
                    Program(source=source, tools=TOOLS),
                    play.dispatch,
                    limits=Limits(seconds=120),
                    output=unseen,
                    waiting=forever,
                )
                for _ in range(200)
            ]
        )
    assert outcomes == [Returned(value=1)] * 200


async def test_ten_thousand_calls_in_one_run(play: Play) -> None:
    source = """
for n in range(5_000): assert await give(n) == n
for n in range(50): assert await asyncio.gather(*[give(i) for i in range(100)]) == [*range(100)]
return "done"
"""
    outcome = await play(source, limits=Limits(seconds=300, calls=10_000))
    assert outcome == Returned(value="done")
    assert len(play.calls) == 10_000


def _held_bytes() -> int:
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError


@pytest.mark.no_cover
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to see what is held")
async def test_a_thousand_runs_one_after_another_hold_no_more(play: Play) -> None:
    held: list[int] = []
    for number in range(1_000):
        assert await play.value("return await give(1)") == 1
        play.calls.clear()
        play.past.clear()
        if number in (300, 999):
            gc.collect()
            held.append(_held_bytes())
    assert held[1] - held[0] < 50_000_000


async def test_others_go_on_while_some_are_cancelled(play: Play) -> None:
    others = [asyncio.create_task(Play(play.engine).value(_SLOW)) for _ in range(5)]
    for _ in range(20):
        task = asyncio.create_task(play("print('on')\nwhile True: pass"))
        while not play.output:
            await asyncio.sleep(0.001)
        play.output.clear()
        task.cancel()
        with anyio.fail_after(10), pytest.raises(asyncio.CancelledError):
            await task
    assert await asyncio.gather(*others) == [3 * 50] * 5


_SLOW = """
total = 0
for n in range(50):
    total += await give(3)
    sum(range(10_000))
return total
"""

_TESTS = str(Path(__file__).parents[2])

FORKED = """
import asyncio, faulthandler, os, sys
from engines.play import Play
from lineshaft.engines.wasm import WasmEngine

faulthandler.enable()
engine = WasmEngine()

async def runs():
    play = Play(engine)
    assert await play.value("return await give(1)") == 1
    assert (await play("def f(): f()\\nf()")).kind == "RecursionError"
    await play("import os\\nos.abort()")
    return await play.value("return await give(2)")

assert asyncio.run(runs()) == 2
child = os.fork()
if child == 0:
    os._exit(asyncio.run(runs()))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
assert asyncio.run(runs()) == 2
"""

LEFT = """
import asyncio, threading
from engines.play import Play
from lineshaft.engines.wasm import WasmEngine

engine = WasmEngine()
play = Play(engine)
{}
print("the end of the program")
"""

ENDS: dict[str, str] = {
    "a loop that is closed in the middle": (
        "loop = asyncio.new_event_loop()\n"
        "task = loop.create_task(play('await hold()'))\n"
        "loop.run_until_complete(play.held.wait())\n"
        "loop.close()"
    ),
    "a loop that is left in the middle": (
        "loop = asyncio.new_event_loop()\n"
        "task = loop.create_task(play('await give(1)\\nwhile True: pass'))\n"
        "async def called():\n"
        "    while not play.calls: await asyncio.sleep(0.001)\n"
        "loop.run_until_complete(called())"
    ),
    "a thread that never ends": (
        "threading.Thread(target=lambda: asyncio.run(play('await hold()')), daemon=True).start()\n"
        "while not play.calls: pass"
    ),
}


def _program(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([_TESTS, *sys.path])},
        check=False,
        timeout=100,
        text=True,
        capture_output=True,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_scripts_run_in_a_forked_child_and_with_a_fault_handler() -> None:
    ended = _program(FORKED)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS)
def test_a_process_ends_although_a_run_of_it_does_not(text: str) -> None:
    ended = _program(LEFT.format(text))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "the end of the program\n"
    assert "Fatal" not in ended.stderr
