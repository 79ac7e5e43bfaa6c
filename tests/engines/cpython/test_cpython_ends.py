"""After any end nothing remains: no process, descriptor or file, and the next run works."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import anyio
import psutil
import pytest

from engines.cpython.raw import RAW
from engines.play import Play
from engines.processes import inside, lives, steady
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.errors import ConfigError, EngineError
from lineshaft.values import Crashed, Exceeded, Limits, Outcome, PythonOptions, Raised, Returned

# pyright: reportPrivateUsage=false
# What must be killed from outside is known to the engine alone.

TIMES = 20
STAY = f"""{RAW}
own = os.getpid()
raw('prctl', 36, 0, 0, 0, 0)
raw('prctl', 1, 0, 0, 0, 0)
raw('setsid')
for name, words in (('fork', ()), ('vfork', ()), ('clone', (17, 0, 0, 0, 0)),
                    ('clone', (0x8011, 0, 0, 0, 0)), ('clone', (0, 0, 0, 0, 0)),
                    ('clone3', (ctypes.create_string_buffer(bytes(32) + b'\\x11', 88), 88))):
    raw(name, *words)
    if os.getpid() != own:  # a process of its own: let it stay
        raw('setsid')
        raw('fork')
        while True: pass
"""
"""Tries to leave a process of another session that no process waits for."""

CLOSE = "\nfor fd in range(1000): _libc.close(fd)\n"

ENDS: dict[str, tuple[str, type[Outcome]]] = {
    "a value": ("return 1", Returned),
    "an error": ("1 / 0", Raised),
    "a limit": ("while True: pass", Exceeded),
    "an exit": ("import posix\nposix._exit(1)", Crashed),
    "an exit of machine code": ("_libc._exit(0)", Crashed),
    "a kill": ("raw('kill', own, 9)", Crashed),
    "no descriptors, and an end": (CLOSE, Crashed),
    "no descriptors, and no end": (f"{CLOSE}while True: pass", Crashed),
    "memory": ("x = []\nwhile True: x.append('a' * 10**6)", Exceeded),
    "a flood": ("while True: print('x' * 1000)", Exceeded),
    "a stop of itself": ("raw('kill', own, 19)", Exceeded),
}


def below(engine: CPythonEngine) -> set[int]:
    """Return the processes that the engine's parent has forked and that are not dead."""
    assert engine._forks is not None
    found = psutil.Process(engine._forks.pid).children(recursive=True)
    return {process.pid for process in found if lives(process)}


async def only_spares(engine: CPythonEngine) -> None:
    """Wait, for one second, until there is at most the process that waits for the next script."""
    with anyio.fail_after(1):
        while len(below(engine)) > 1:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(("source", "kind"), ENDS.values(), ids=ENDS)
async def test_nothing_of_a_run_outlives_its_end(
    jailed: CPythonEngine, source: str, kind: type[Outcome]
) -> None:
    assert await Play(jailed).value("return 1") == 1
    limits = Limits(seconds=0.1, memory_mb=64, stdout_bytes=10_000)
    if kind is not Exceeded:
        limits = Limits(seconds=10)

    async def once() -> None:
        assert isinstance(await Play(jailed)(STAY + source, limits=limits), kind)

    for _ in range(TIMES // 5):
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(once())
        await only_spares(jailed)


@pytest.mark.parametrize("closed", [False, True], ids=["with descriptors", "without"])
async def test_nothing_of_a_run_outlives_its_cancellation(
    jailed: CPythonEngine, closed: bool
) -> None:
    source = f"{STAY}await hold()\n" if not closed else f"await give(1)\n{STAY}{CLOSE}"

    async def once() -> None:
        play = Play(jailed)
        task = asyncio.create_task(play(f"{source}while True: pass"))
        with anyio.fail_after(10):
            while not play.calls:
                await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(play.calls) == 1

    for _ in range(TIMES // 5):
        async with asyncio.TaskGroup() as group:
            for _ in range(5):
                group.create_task(once())
        await only_spares(jailed)


async def becomes(count: int) -> None:
    """Wait until there are no more processes than before; a spare one may be missing."""
    with anyio.fail_after(5):
        while inside() > count:
            await asyncio.sleep(0.01)


async def test_a_killed_parent_settles_every_run_and_is_replaced(jailed: CPythonEngine) -> None:
    before = await steady(jailed)
    one, other = Play(jailed), Play(jailed)
    runs = [asyncio.create_task(play("await hold()\nreturn 1")) for play in (one, other)]
    await one.held.wait()
    await other.held.wait()
    assert jailed._forks is not None
    os.kill(jailed._forks.pid, signal.SIGKILL)
    for outcome in await asyncio.gather(*runs):
        assert isinstance(outcome, Crashed)
    assert one.cancelled == other.cancelled == ["1"]
    assert await one.value("return await give(1)") == 1
    await becomes(before)


async def test_a_parent_that_died_meanwhile_is_replaced_unseen(jailed: CPythonEngine) -> None:
    play = Play(jailed)
    before = await steady(jailed)
    assert jailed._forks is not None
    os.kill(jailed._forks.pid, signal.SIGKILL)
    with anyio.fail_after(5):
        while jailed._forks.alive():
            await asyncio.sleep(0.01)
    assert await play.value("return await give(1)") == 1
    await becomes(before)


async def test_a_killed_supervisor_of_the_jail_settles_the_run_and_is_replaced(
    jailed: CPythonEngine,
) -> None:
    before = await steady(jailed)
    play = Play(jailed)
    run = asyncio.create_task(play("await hold()"))
    await play.held.wait()
    assert jailed._forks is not None
    parent = psutil.Process(jailed._forks.pid)
    family = [p.pid for p in psutil.Process().children(recursive=True)]
    supervisor = next(p for p in reversed(parent.parents()) if p.pid in family)
    supervisor.kill()
    assert isinstance(await run, Crashed)
    assert await play.value("return await give(1)") == 1
    await becomes(before)


async def test_a_killed_process_settles_its_run_only(jailed: CPythonEngine) -> None:
    one, other = Play(jailed), Play(jailed)
    runs = [
        asyncio.create_task(play("import os\nawait give(os.getpid())\nawait hold()\nreturn 1"))
        for play in (one, other)
    ]
    await one.held.wait()
    await other.held.wait()
    victim = next(iter(jailed._runs)).worker
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGKILL)
    one.release()
    other.release()
    outcomes = await asyncio.gather(*runs)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Crashed", "Returned"]


def descriptors() -> set[str]:
    """Return what this process has open."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}


async def test_runs_leave_no_descriptor(held: Play, jailed: CPythonEngine) -> None:
    await steady(jailed)
    before = len(descriptors())
    scripts = ["1", "1 / 0", f"{RAW}_libc._exit(1)", "await give(1)", "while True: print('x' * 99)"]
    for source in scripts * 2:
        await held(source, limits=Limits(seconds=5, stdout_bytes=1000))
    await asyncio.gather(*[held(source, limits=Limits(stdout_bytes=1000)) for source in scripts])
    with anyio.fail_after(5):
        while len(descriptors()) > before + 1:  # the spare process may have been looked at since
            await asyncio.sleep(0.01)


async def test_a_closed_engine_leaves_nothing() -> None:
    others, open_before = set(psutil.Process().children()), len(descriptors())
    engine = CPythonEngine()
    play = Play(engine)
    run = asyncio.create_task(play("await hold()"))
    await play.held.wait()
    mine = set(psutil.Process().children()) - others
    mine |= {below for top in mine for below in top.children(recursive=True)}
    assert len(mine) > 2  # the jail, the parent and a script
    await engine.aclose()
    assert isinstance(await run, Crashed)
    assert play.cancelled == ["1"]
    with anyio.fail_after(5):
        while any(map(lives, mine)):
            await asyncio.sleep(0.01)
    assert len(descriptors()) <= open_before
    with pytest.raises(ConfigError, match="closed"):
        await play("1")
    await engine.aclose()


HOST = """
import asyncio, sys
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.values import Limits, Program, PythonOptions

async def held(call):
    print("held", flush=True)
    await asyncio.sleep(1000)

async def waiting(ids):
    return "wait"

async def main():
    engine = CPythonEngine(options=PythonOptions(boundary=sys.argv[1]))
    program = Program(source=sys.argv[2], tools=frozenset({"hold"}))
    await engine.run(program, held, limits=Limits(), output=print, waiting=waiting)

asyncio.run(main())
"""


@contextmanager
def host(boundary: str) -> Generator["subprocess.Popen[bytes]"]:
    """Start a host of its own, with a run that waits."""
    command = [sys.executable, "-c", dedent(HOST), boundary, f"{STAY}await hold()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_nothing_outlives_a_killed_host(jailed: CPythonEngine) -> None:
    assert jailed._jail is not None
    with host(jailed._jail.name) as process:
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == b"held\n"
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 3
        process.kill()
        process.wait()
        with anyio.fail_after(10):
            while any(lives(member) for member in family):
                await asyncio.sleep(0.02)


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


async def test_modules_are_imported_before_the_first_script() -> None:
    engine = CPythonEngine(options=PythonOptions(preload=("xmlrpc.client",)))
    try:
        source = "import sys\nreturn 'xmlrpc.client' in sys.modules"
        assert await Play(engine).value(source) is True
    finally:
        await engine.aclose()


async def test_a_module_that_cannot_be_imported_is_named() -> None:
    engine = CPythonEngine(options=PythonOptions(preload=("nowhere",)))
    with pytest.raises(EngineError, match=r"nowhere: ModuleNotFoundError: No module named"):
        await Play(engine)("1")
    await engine.aclose()
