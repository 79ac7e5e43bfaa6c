"""After any end nothing remains: no process, descriptor or file, and the next run works."""

# pyright: reportPrivateUsage=false
# Who must be killed from outside is nobody's business but the engine's.

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

from engines.play import Play
from engines.processes import DAEMON, inside, lives, steady
from lineshaft.engines._cpython import CPythonEngine
from lineshaft.errors import ConfigError, EngineError
from lineshaft.values import Crashed, Exceeded, Limits, Outcome, PythonOptions, Returned


async def becomes(count: int) -> None:
    """Wait until there are no more processes than before; a spare child may be missing."""
    with anyio.fail_after(5):
        while inside() > count:
            await asyncio.sleep(0.01)


ENDS: dict[str, tuple[str, type[Outcome]]] = {
    "a value": ("return 1", Returned),
    "an exit": ("os._exit(1)", Crashed),
    "a kill": ("os.kill(os.getpid(), 9)", Crashed),
    "a flood": ("while True: print('x' * 1000)", Exceeded),
    "a time-out": ("while True: pass", Exceeded),
    "memory": ("x = []\nwhile True: x.append('a' * 10**6)", Exceeded),
}


@pytest.mark.parametrize(("source", "kind"), ENDS.values(), ids=ENDS)
async def test_whatever_ends_a_run_ends_its_daemons(
    held: Play, jailed: CPythonEngine, source: str, kind: type[Outcome]
) -> None:
    before = await steady(jailed)
    limits = Limits(seconds=1, memory_mb=64, stdout_bytes=10_000)
    assert isinstance(await held(DAEMON + source, limits=limits), kind)
    await becomes(before)


async def test_a_cancelled_run_ends_its_daemons(held: Play, jailed: CPythonEngine) -> None:
    before = await steady(jailed)
    task = asyncio.create_task(held(DAEMON + "try:\n    await hold()\nfinally:\n    await give(1)"))
    await held.held.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert held.tools == ["hold"]
    await becomes(before)


async def test_a_daemon_outlives_the_end_of_another_run(held: Play, jailed: CPythonEngine) -> None:
    other = Play(jailed)
    beside = asyncio.create_task(
        other(
            "import os, time\nr, w = os.pipe()\n"
            "if os.fork() == 0:\n    if os.fork() == 0:\n        time.sleep(0.3)\n"
            "        os.write(w, b'alive')\n    os._exit(0)\n"
            "os.close(w)\nawait hold()\nreturn os.read(r, 9).decode()"
        )
    )
    await other.held.wait()
    assert await held.value(DAEMON + "return 1") == 1
    other.release()
    assert await beside == Returned(value="alive")


BOMBS: dict[str, str] = {
    "processes": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    ),
    "daemons": (
        "import os\nwhile True:\n    try:\n        if os.fork() == 0: os.setsid()\n"
        "    except OSError:\n        pass"
    ),
    "threads": (
        "import threading, time\nwhile True:\n    try:\n"
        "        threading.Thread(target=time.sleep, args=(99,)).start()\n"
        "    except RuntimeError:\n        pass"
    ),
}


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
async def test_a_bomb_ends_with_its_run_and_the_next_run_works(
    held: Play, jailed: CPythonEngine, source: str
) -> None:
    before = await steady(jailed)
    outcome = await held(source, limits=Limits(seconds=0.5))
    assert isinstance(outcome, Exceeded | Crashed)
    assert await held.value("return await give(1)") == 1
    await becomes(before)


async def test_a_killed_parent_settles_every_run_and_is_replaced(jailed: CPythonEngine) -> None:
    before = await steady(jailed)
    one, other = Play(jailed), Play(jailed)
    runs = [asyncio.create_task(play("await hold()\nreturn 1")) for play in (one, other)]
    await one.held.wait()
    await other.held.wait()
    assert jailed._warm is not None
    os.kill(jailed._warm._pid, signal.SIGKILL)
    for outcome in await asyncio.gather(*runs):
        assert isinstance(outcome, Crashed)
    assert one.cancelled == other.cancelled == ["1"]
    assert await one.value("return await give(1)") == 1
    await becomes(before)


async def test_a_script_that_kills_its_parent_ends_itself(held: Play) -> None:
    source = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass"
    outcome = await held(source, limits=Limits(seconds=3))
    assert isinstance(outcome, Crashed | Exceeded)
    assert await held.value("return await give(1)") == 1


async def test_a_parent_that_died_meanwhile_is_replaced_unseen(jailed: CPythonEngine) -> None:
    play = Play(jailed)
    before = await steady(jailed)
    assert jailed._warm is not None
    os.kill(jailed._warm._pid, signal.SIGKILL)
    await asyncio.sleep(0.1)
    assert await play.value("return await give(1)") == 1
    await becomes(before)


async def test_a_killed_keeper_of_the_jail_settles_the_run_and_is_replaced(
    jailed: CPythonEngine,
) -> None:
    before = await steady(jailed)
    play = Play(jailed)
    run = asyncio.create_task(play(DAEMON + "await hold()"))
    await play.held.wait()
    assert jailed._warm is not None
    parent = psutil.Process(jailed._warm._pid)
    family = [p.pid for p in psutil.Process().children(recursive=True)]
    keeper = next(p for p in reversed(parent.parents()) if p.pid in family)
    keeper.kill()
    assert isinstance(await run, Crashed)
    assert await play.value("return await give(1)") == 1
    await becomes(before)


async def test_a_killed_child_settles_its_run_only(jailed: CPythonEngine) -> None:
    one, other = Play(jailed), Play(jailed)
    runs = [asyncio.create_task(play("await hold()\nreturn 1")) for play in (one, other)]
    await one.held.wait()
    await other.held.wait()
    [victim] = [
        run for run in jailed._runs if run.seat.number == min(r.seat.number for r in jailed._runs)
    ]
    assert victim.seat.pid is not None
    os.kill(victim.seat.pid, signal.SIGKILL)
    one.release()
    other.release()
    outcomes = await asyncio.gather(*runs)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Crashed", "Returned"]


def descriptors() -> set[str]:
    """Return what this process has open."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}


async def test_runs_leave_no_descriptor_and_no_file(held: Play, jailed: CPythonEngine) -> None:
    await steady(jailed)
    before = len(descriptors())
    scripts = ["1", "1 / 0", "import os\nos._exit(1)", "open('x', 'w').write('y')", "await give(1)"]
    for source in scripts * 2:
        await held(source)
    await asyncio.gather(*[held(source) for source in scripts])
    await asyncio.sleep(0.1)
    assert len(descriptors()) <= before + 1  # the spare child may have been looked at since
    seen = "import os\nreturn os.listdir(os.path.dirname(os.environ['TMPDIR']))"
    with anyio.fail_after(5):
        while len(await held.value(seen)) > 2:  # pyright: ignore[reportArgumentType]  a list
            await asyncio.sleep(0.05)


async def test_a_closed_engine_leaves_nothing() -> None:
    others, open_before = set(psutil.Process().children()), len(descriptors())
    engine = CPythonEngine()
    play = Play(engine)
    run = asyncio.create_task(play(DAEMON + "await hold()"))
    await play.held.wait()
    mine = set(psutil.Process().children()) - others
    mine |= {below for top in mine for below in top.children(recursive=True)}
    assert len(mine) > 2  # the jail, the parent, a script and its daemon
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
from lineshaft.engines._cpython import CPythonEngine
from lineshaft.values import Limits, Program, PythonOptions

async def held(call):
    print("held", flush=True)
    await asyncio.sleep(1000)

async def main():
    engine = CPythonEngine(options=PythonOptions(boundary=sys.argv[1]))
    program = Program(source=sys.argv[2] + "await hold()", tools=frozenset({"hold"}))
    await engine.run(
        program, held, limits=Limits(), output=print, waiting=lambda ids: "wait"
    )

asyncio.run(main())
"""


@contextmanager
def host(boundary: str) -> Generator["subprocess.Popen[bytes]"]:
    """Start a host of its own, with a run that waits and has a daemon."""
    command = [sys.executable, "-c", dedent(HOST), boundary, DAEMON]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_nothing_outlives_a_killed_host(jailed: CPythonEngine) -> None:
    boundary = jailed._options.boundary
    assert boundary is not None
    with host(boundary) as process:
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == b"held\n"
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 3
        process.kill()
        process.wait()
        with anyio.fail_after(10):
            while any(lives(member) for member in family):
                await asyncio.sleep(0.02)


async def test_sessions_cannot_reach_each_other(jailed: CPythonEngine) -> None:
    other = CPythonEngine(options=jailed._options, jail=jailed._jail)
    mine, theirs = Play(jailed), Play(other)
    try:
        run = asyncio.create_task(theirs("await hold()\nreturn 1"))
        await theirs.held.wait()
        [running] = other._runs
        source = """
import os
try:
    os.kill(pid, 9)
except OSError as e:
    return type(e).__name__
"""
        refused = await mine.value(source, pid=running.seat.pid)
        assert refused in ("PermissionError", "ProcessLookupError")
        theirs.release()
        assert await run == Returned(value=1)
    finally:
        await other.aclose()


async def test_modules_are_imported_before_the_first_script() -> None:
    engine = CPythonEngine(options=PythonOptions(preload=("fractions",)))
    try:
        assert await Play(engine).value("import sys\nreturn 'fractions' in sys.modules") is True
    finally:
        await engine.aclose()


async def test_a_module_that_cannot_be_imported_is_named() -> None:
    engine = CPythonEngine(options=PythonOptions(preload=("nowhere",)))
    with pytest.raises(EngineError, match=r"nowhere: ModuleNotFoundError: No module named"):
        await Play(engine)("1")
    await engine.aclose()


async def test_a_workspace_is_out_of_reach_unless_imports_are_switched_on(
    open_folder: Path,
) -> None:
    (open_folder / "ours.py").write_text("answer = 42\n")
    for switched, expected in ((False, "ModuleNotFoundError"), (True, 42)):
        options = PythonOptions(workspace_imports=switched)
        engine = CPythonEngine(options=options, workspace=open_folder)
        source = """
try:
    import ours
    value = ours.answer
except ImportError as e:
    value = type(e).__name__
try:
    open(path, "a")
except OSError:
    pass
else:
    value = "written"
value
"""
        try:
            value = await Play(engine).value(source, path=str(open_folder / "ours.py"))
        finally:
            await engine.aclose()
        assert value == expected


async def test_there_is_no_state_to_go_on_from(play: Play) -> None:
    with pytest.raises(ConfigError, match="no states"):
        await play("1", resume=b"x")
