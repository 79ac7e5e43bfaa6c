"""The end of a process is the end of everything it started."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from lineshaft.processes import start
from lineshaft.values import Command, Exit, Process

DAEMON = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if "deaf" in sys.argv:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        if "holds" not in sys.argv:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1), os.dup2(null, 2)
        signal.pause()
    os._exit(0)
os.wait()
if "stay" in sys.argv:
    signal.pause()
"""
"""Forks twice, leaves its session, says who it is; `stay`: the first process stays as well."""


HEADLESS = """
import ctypes, os, signal, subprocess, sys, threading
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
libc = ctypes.CDLL(None)
def work():
    libc.pthread_join(ctypes.c_void_p(threading.main_thread().ident), None)
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    print(os.getpid(), child.pid, flush=True)
    if "orphan" in sys.argv:
        os.kill(os.getppid(), signal.SIGKILL)
    threading.Event().wait()
threading.Thread(target=work).start()
libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit of one thread
"""
"""Goes on in another thread when its first one has ended; says who it and its child are."""


@pytest.fixture
def no_strays() -> Iterator[list[int]]:
    pids: list[int] = []
    yield pids
    for pid in filter(alive, pids):
        os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Return whether any thread of a process lives."""
    try:
        return any(_state(thread) != "Z" for thread in Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        return False


def _state(thread: Path) -> str:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


async def ended(pid: int) -> None:
    """Wait until a process that is not ours has ended."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        with anyio.fail_after(5):
            await anyio.wait_readable(fd)
    finally:
        os.close(fd)


async def daemon(cwd: Path, *words: str, seconds: float = 60) -> tuple[Process, int]:
    argv = (sys.executable, "-I", "-S", "-c", DAEMON, *words)
    process = await start(Command(argv=argv, seconds=seconds), cwd=cwd)
    async for line in process.lines():
        return process, int(line.text)
    raise AssertionError


async def wait(process: Process) -> Exit:
    with anyio.fail_after(10):
        return await process.wait()


async def test_a_time_out_ends_a_daemon_in_another_session(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path, "stay", seconds=2)
    no_strays.append(pid)
    assert alive(pid)

    done = await wait(process)

    assert done.timed_out
    assert done.exit_code == -signal.SIGTERM
    assert done.stdout == f"{pid}\n"
    assert not alive(pid)


async def test_a_daemon_that_ignores_sigterm_is_killed(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path, "stay", "deaf")
    no_strays.append(pid)

    with anyio.fail_after(10):
        await process.kill()

    assert not alive(pid)


async def test_a_daemon_does_not_outlive_a_program_that_ended_well(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path)
    no_strays.append(pid)

    done = await wait(process)

    assert done.exit_code == 0
    assert not done.timed_out
    assert not alive(pid)


async def test_a_grandchild_that_holds_the_pipe_holds_nobody_up(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path, "holds")
    no_strays.append(pid)

    done = await wait(process)

    assert (done.exit_code, done.stdout) == (0, f"{pid}\n")
    assert not alive(pid)


async def test_a_deaf_grandchild_that_holds_the_pipe_holds_nobody_up(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path, "holds", "deaf", "stay", seconds=2)
    no_strays.append(pid)

    done = await wait(process)

    assert done.timed_out
    assert not alive(pid)


async def test_cancelling_whoever_waits_ends_the_tree(tmp_path: Path, no_strays: list[int]) -> None:
    process, pid = await daemon(tmp_path, "stay")
    no_strays.append(pid)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.wait)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert not alive(pid)


async def test_cancelling_a_start_leaves_nothing(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await start(Command(argv=("sleep", "60")), cwd=tmp_path)

    assert scope.cancelled_caught
    assert set(psutil.Process().children(recursive=True)) == before


async def test_cancelling_whoever_reads_lines_ends_the_tree(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pid = await daemon(tmp_path, "stay")
    no_strays.append(pid)

    async def read() -> None:
        async for _ in process.lines():
            pass

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()

    assert not alive(pid)


async def test_a_program_may_end_in_its_grace(tmp_path: Path) -> None:
    script = "trap 'echo tidied up; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    process = await start(Command(argv=("sh", "-c", script)), cwd=tmp_path)
    async for _ in process.lines():
        break

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(process.kill)
    done = await wait(process)

    assert done.exit_code == 7
    assert "tidied up" in done.stdout
    assert not done.timed_out


async def test_a_stopped_program_is_ended_too(tmp_path: Path) -> None:
    process = await start(Command(argv=("sh", "-c", "kill -STOP $$"), seconds=0.2), cwd=tmp_path)

    assert (await wait(process)).timed_out


async def test_a_fork_bomb_is_ended(tmp_path: Path) -> None:
    bomb = "import os\nfor _ in range(6):\n    os.fork()\nprint(os.getpid(), flush=True)\n"
    restless = "while True:\n    os.fork() or os._exit(0)\n    os.wait()\n"
    argv = (sys.executable, "-I", "-S", "-c", bomb + restless)
    process = await start(Command(argv=argv, seconds=3), cwd=tmp_path)

    done = await wait(process)

    pids = [int(line) for line in done.stdout.splitlines()]
    assert done.timed_out
    assert len(pids) == 64
    assert not any(map(alive, pids))


async def headless(cwd: Path, *words: str, seconds: float = 60) -> tuple[Process, list[int]]:
    argv = (sys.executable, "-I", "-S", "-c", HEADLESS, *words)
    process = await start(Command(argv=argv, seconds=seconds), cwd=cwd)
    async for line in process.lines():
        return process, [int(word) for word in line.text.split()]
    raise AssertionError


@pytest.mark.parametrize(
    ("words", "number"), [([], signal.SIGTERM), (["deaf"], signal.SIGKILL)], ids=["", "deaf"]
)
async def test_a_program_whose_first_thread_has_ended_is_ended(
    words: list[str], number: int, tmp_path: Path, no_strays: list[int]
) -> None:
    process, pids = await headless(tmp_path, *words, seconds=2)
    no_strays += pids
    assert all(map(alive, pids))

    done = await wait(process)

    assert done.timed_out
    assert done.exit_code == -number
    assert not any(map(alive, pids))


async def test_without_its_supervisor_a_program_whose_first_thread_has_ended_is_ended(
    tmp_path: Path, no_strays: list[int]
) -> None:
    process, pids = await headless(tmp_path, "orphan")
    no_strays += pids

    done = await wait(process)

    assert done.exit_code == -signal.SIGKILL
    for pid in pids:
        await ended(pid)


async def test_killing_twice_and_waiting_twice_is_harmless(tmp_path: Path) -> None:
    process = await start(Command(argv=("sleep", "60")), cwd=tmp_path)

    await process.kill()
    await process.kill()

    assert await wait(process) == await wait(process)
    assert (await wait(process)).exit_code == -signal.SIGTERM


async def test_a_command_that_kills_its_supervisor_is_ended(
    tmp_path: Path, no_strays: list[int]
) -> None:
    script = "sleep 60 & echo $!; kill -KILL $PPID; sleep 60"
    process = await start(Command(argv=("sh", "-c", script)), cwd=tmp_path)

    done = await wait(process)

    no_strays.append(pid := int(done.stdout))
    assert done.exit_code == -signal.SIGKILL
    assert not alive(pid)


HOST = """
import asyncio, os, sys
from pathlib import Path
from typing import Any
from lineshaft.processes import start
from lineshaft.values import Command

async def main():
    argv = (sys.executable, "-I", "-S", "-c", sys.argv[1], "stay", "deaf")
    process = await start(Command(argv=argv), cwd=Path.cwd())
    async for line in process.lines():
        print(line.text, flush=True)

if len(sys.argv) > 2:
    import threading
    threading.Thread(target=lambda: asyncio.run(main())).start()
else:
    asyncio.run(main())
"""


@pytest.mark.parametrize("words", [[], ["thread"]])
async def test_a_daemon_does_not_outlive_a_killed_host(
    words: list[str], tmp_path: Path, no_strays: list[int]
) -> None:
    argv = [sys.executable, "-c", HOST, DAEMON, *words]
    async with await anyio.open_process(argv, cwd=tmp_path) as host:
        assert host.stdout is not None
        pid = int(await host.stdout.receive())
        no_strays.append(pid)
        assert alive(pid)
        host.kill()

    await ended(pid)


async def test_a_program_whose_first_thread_has_ended_does_not_outlive_a_killed_host(
    tmp_path: Path, no_strays: list[int]
) -> None:
    async with await anyio.open_process(
        [sys.executable, "-c", HOST, HEADLESS], cwd=tmp_path
    ) as host:
        assert host.stdout is not None
        pids = [int(word) for word in (await host.stdout.receive()).split()]
        no_strays += pids
        assert all(map(alive, pids))
        host.kill()

    for pid in pids:
        await ended(pid)


class Lingering(subprocess.Popen[bytes]):
    """A supervisor that is seen to have ended at the fifth look."""

    looks = 0

    def poll(self) -> int | None:
        self.looks += 1
        return super().wait() if self.looks >= 5 else None

    def wait(self, timeout: float | None = None) -> int:
        raise AssertionError(f"the event loop stood still for up to {timeout} s")


async def test_the_event_loop_goes_on_while_a_supervisor_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[Lingering] = []

    def launched(argv: list[str], **more: Any) -> Lingering:
        made.append(Lingering(argv, **more))
        return made[-1]

    monkeypatch.setattr("lineshaft.processes._start.subprocess.Popen", launched)
    with anyio.fail_after(20):
        process = await start(Command(argv=("true",)), cwd=tmp_path)
        assert (await process.wait()).exit_code == 0
        await process.kill()
    assert [one.looks for one in made] == [5]
