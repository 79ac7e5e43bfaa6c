"""A program that ends while its scripts run ends quietly."""

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, signal, sys, threading
from lineshaft.engines import MontyEngine
from lineshaft.values import Limits, Program

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever whoever started this ignores

async def hold(call):
    await asyncio.Event().wait()

def run():
    program = Program(source={source!r}, tools=frozenset({{"hold"}}))
    return engine.run(program, hold, limits=Limits(), output=lambda s, t: started.set(),
                      waiting=lambda ids: "wait")

async def begin():
    task = asyncio.ensure_future(run())
    await asyncio.to_thread(started.wait)
    return task

engine, started = MontyEngine(), threading.Event()
{ending}
print("end")
"""
ENDINGS = {
    "the loop is closed": "asyncio.run(begin())",
    "the loop is left": "loop = asyncio.new_event_loop(); kept = loop.run_until_complete(begin())",
    "the program exits": (
        "async def main():\n    await begin()\n    print('end')\n    sys.exit()\n"
        "asyncio.run(main())"
    ),
    "another thread runs it": (
        "threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start(); started.wait()"
    ),
    "it is interrupted": (
        "async def main():\n    task = await begin()\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "    await task\ntry:\n    asyncio.run(main())\nexcept KeyboardInterrupt:\n    pass"
    ),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("source", ["print(1)\nwhile True: pass", "print(1)\nawait hold()"])
def test_a_program_may_end_while_a_script_runs(source: str, ending: str) -> None:
    text = PROGRAM.format(source=source, ending=ending)
    for _ in range(2):
        ended = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, timeout=20, check=False
        )
        assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


TOLD_ALL = """
import asyncio, os, signal
from lineshaft.engines import MontyChecker, MontyEngine
from lineshaft.values import Limits, Program, Stubs, Value

WANTED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
for number in WANTED:
    signal.signal(number, lambda *_: None)

async def tell(call):
    for number in WANTED:
        os.killpg(0, number)
    return Value(1)

async def main():
    checker, engine = MontyChecker(), MontyEngine(max_workers=2)
    program = Program(source="return await tell() + await tell()", tools=frozenset({"tell"}))
    check = lambda: checker.check("oh", stubs=Stubs(main=""), inputs={})
    run = lambda: engine.run(program, tell, limits=Limits(), output=lambda s, t: None,
                             waiting=lambda ids: "wait")
    print([found.code for found in await check()])
    print([ended.value for ended in await asyncio.gather(run(), run())])
    print([found.code for found in await check()])
    await engine.aclose()
    await checker.aclose()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no groups of processes")
def test_what_a_terminal_tells_all_its_processes_ends_no_worker() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TOLD_ALL],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    found = "['unresolved-reference']"
    assert done.stdout.splitlines() == [found, "[2, 2]", found], done.stderr
