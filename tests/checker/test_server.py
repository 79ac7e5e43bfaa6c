"""The life of the checker's server: shared, replaced, and gone with whatever used it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import anyio.to_thread
import psutil
import pytest

from checker.asking import STUBS, Found, found, servers, stop
from lineshaft.checker import TyChecker
from lineshaft.files import lock_file
from lineshaft.values import Diagnostic, PythonTarget, Stubs

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")

SLOW = "x = a" + ".b" * 50_000
"""Keeps the checker busy for many seconds."""

PROGRAM = """
import asyncio, sys, threading
from lineshaft.checker import TyChecker
from lineshaft.values import Stubs
checker = TyChecker()
async def check(source):
    return [one.code for one in await checker.check(source, stubs=Stubs(main=''), inputs={})]
"""


def run(program: Path, text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program.write_text(PROGRAM + text)
    return subprocess.run(
        [sys.executable, "-W", "error", str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_many_checks_at_once_get_their_own_answers(checker: TyChecker) -> None:
    answers: dict[int, Found] = {}

    async def one(number: int) -> None:
        version = ("3.11", "3.12", "3.13", "3.14")[number % 4]
        source = "\n" * number + "await read_file()"
        answers[number] = await found(checker, source, target=PythonTarget(version=version))

    async with anyio.create_task_group() as tasks:
        for number in range(100):
            tasks.start_soon(one, number)
    assert answers == {n: [("missing-argument", n + 1, 7)] for n in range(100)}


async def test_checkers_and_event_loops_of_a_process_share_one_server(checker: TyChecker) -> None:
    other = TyChecker()
    answers: list[Found] = []

    def elsewhere() -> None:
        answers.extend(asyncio.run(found(each, "return nope")) for each in (checker, other))

    threads = [threading.Thread(target=elsewhere) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await anyio.to_thread.run_sync(thread.join)
    assert answers == [[("unresolved-reference", 1, 8)]] * 8
    (server,) = servers()
    await other.aclose()
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]
    assert servers() == [server]


async def test_the_server_ends_with_the_last_that_used_it(temporary: Path) -> None:
    first, second = TyChecker(), TyChecker()
    assert await found(first, "return 1") == await found(second, "return 1") == []
    assert len(list(temporary.iterdir())) == len(servers()) == 1
    await first.aclose()
    assert len(servers()) == 1
    del second  # a garbage collection that waited for the end could wait for itself
    with anyio.fail_after(30):
        while servers() or list(temporary.iterdir()):
            await anyio.sleep(0.01)


def test_one_that_is_forgotten_while_a_server_starts_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A collection may find it in a thread that begins, whose starter holds what it would take."""

    async def check(checker: TyChecker) -> Found:
        answer = await found(checker, "return nope")
        await checker.aclose()
        return answer

    first = [TyChecker()]
    assert asyncio.run(check(first[0]))
    start = threading.Thread.start

    def forgetting(thread: threading.Thread) -> None:
        other = threading.Thread(target=first.clear)  # the last reference
        start(other)
        other.join()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", forgetting)
    assert asyncio.run(check(TyChecker())) == [("unresolved-reference", 1, 8)]


async def test_checkers_that_come_and_go_in_threads_disturb_no_other(temporary: Path) -> None:
    answers: list[Found] = []

    async def once() -> None:
        checker = TyChecker()
        answers.append(await found(checker, "return nope"))
        await checker.aclose()

    def come_and_go() -> None:
        for _ in range(8):
            asyncio.run(once())

    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(anyio.to_thread.run_sync, come_and_go)
    assert answers == [[("unresolved-reference", 1, 8)]] * 32
    assert servers() == []
    assert list(temporary.iterdir()) == []


async def test_few_projects_stay(checker: TyChecker, temporary: Path) -> None:
    for number in range(8):
        stubs = Stubs(main=f"async def only_{number}() -> int: ...\n")
        await checker.check("return 1", stubs=stubs, inputs={})
    assert len(list(temporary.glob("*/project-*"))) == 4


async def test_a_server_that_died_is_replaced(checker: TyChecker) -> None:
    assert await found(checker, "return 1") == []
    (server,) = servers()
    server.kill()
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


async def test_a_script_that_ends_the_server_harms_no_other(checker: TyChecker) -> None:
    deadly = "x = " + "-" * 50_000 + "1"
    answers: list[Found] = []

    async def one(source: str, number: int) -> None:
        stubs = Stubs(main=f"x{number} = 1\n")
        said = await checker.check(source, stubs=stubs, inputs={})
        answers.append([(one.code, one.line, one.column) for one in said])

    async with anyio.create_task_group() as tasks:
        for number in range(4):
            tasks.start_soon(one, deadly if number == 0 else "return nope", number)
    failed, good = [("checker-failed", 1, 1)], [("unresolved-reference", 1, 8)]
    assert sorted(answers) == [failed, good, good, good]


@needs_signals
async def test_a_server_that_hangs_is_ended_and_replaced(hasty: TyChecker) -> None:
    assert await found(hasty, "return 1") == []
    (server,) = servers()
    await stop(server)
    (said,) = await hasty.check("return nope", stubs=STUBS, inputs={})
    assert (said.code, said.message) == ("checker-failed", "the type check took longer than 0.5 s")
    assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
    assert await found(hasty, "return nope") == [("unresolved-reference", 1, 8)]


@needs_signals
async def test_a_long_script_for_a_server_that_hangs_ends_in_time(hasty: TyChecker) -> None:
    assert await found(hasty, "return 1") == []
    await stop(servers()[0])
    assert await found(hasty, "x = 1\n" * 100_000) == [("checker-failed", 1, 1)]


async def test_a_script_that_takes_long_delays_no_check_of_another_kind(checker: TyChecker) -> None:
    assert await found(checker, "return 1") == []
    answers: list[Found] = []

    async def slow() -> None:
        answers.append(await found(checker, SLOW))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(slow)
        await anyio.wait_all_tasks_blocked()
        assert await checker.check("return 1", stubs=Stubs(main=""), inputs={}) == ()
        assert answers == []
        tasks.cancel_scope.cancel()


@needs_signals
async def test_a_cancelled_check_ends_at_once_and_harms_no_other(checker: TyChecker) -> None:
    assert await found(checker, "return 1") == []
    (server,) = servers()
    await stop(server)
    with anyio.move_on_after(0.05) as scope:
        await checker.check("return 1", stubs=STUBS, inputs={})
    assert scope.cancelled_caught
    server.resume()
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


@needs_signals
async def test_closing_ends_a_check_under_way(checker: TyChecker) -> None:
    assert await found(checker, "return 1") == []
    await stop(servers()[0])
    answers: list[tuple[Diagnostic, ...]] = []

    async def ask() -> None:
        answers.append(await checker.check("return 1", stubs=STUBS, inputs={}))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await checker.aclose()
    assert [said[0].code for said in answers] == ["checker-failed"]
    assert servers() == []


async def test_a_closed_checker_says_so() -> None:
    checker = TyChecker()
    await checker.aclose()
    await checker.aclose()
    (said,) = await checker.check("return 1", stubs=STUBS, inputs={})
    assert (said.code, said.message) == ("checker-failed", "the type checker is closed")


@pytest.mark.parametrize("started", [0, 1])
async def test_where_no_thread_can_be_started_the_check_fails_and_says_so(
    checker: TyChecker, monkeypatch: pytest.MonkeyPatch, started: int
) -> None:
    start = threading.Thread.start
    left = [True] * started

    def scarce(thread: threading.Thread) -> None:
        if threading.current_thread().name == "lineshaft-checker" and not (left and left.pop()):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", scarce)
    with anyio.fail_after(20):
        (said,) = await checker.check("return 1", stubs=STUBS, inputs={})
    assert "cannot be started" in said.message
    assert servers() == []
    monkeypatch.undo()
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]


async def test_without_a_folder_to_write_the_check_fails_and_says_so(
    checker: TyChecker, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "missing"))
    (said,) = await checker.check("return 1", stubs=STUBS, inputs={})
    assert said.code == "checker-failed"
    assert "files cannot be written" in said.message
    assert str(temporary) not in said.message


async def test_files_that_were_removed_are_written_again(
    checker: TyChecker, temporary: Path
) -> None:
    """As by a program that cleans the temporary folder."""
    for stubs in (STUBS, STUBS, Stubs(main="other = 1\n")):
        for left in temporary.glob("lineshaft-checker-*"):
            shutil.rmtree(left)
        for source, codes in (("return nope", ["unresolved-reference"]), ("return 1", [])):
            said = await checker.check(source, stubs=stubs, inputs={})
            assert [one.code for one in said] == codes
    assert len(servers()) == 1
    assert len(list(temporary.glob("lineshaft-checker-*"))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="platform: folders cannot be locked")
async def test_its_folder_is_locked_so_that_cleaners_leave_it(
    checker: TyChecker, temporary: Path
) -> None:
    assert await found(checker, "return 1") == []
    (own,) = temporary.glob("lineshaft-checker-*")
    fd = os.open(own, os.O_RDONLY)
    try:
        with pytest.raises(BlockingIOError):
            lock_file(fd, wait=False)
    finally:
        os.close(fd)


def test_a_program_that_forgets_to_close_ends_by_itself(tmp_path: Path, temporary: Path) -> None:
    done = run(tmp_path / "program.py", "print(asyncio.run(check('return 1')))\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    assert [each.name for each in temporary.iterdir()] == ["program.py"]


def test_nothing_heavy_is_imported_or_started_before_the_first_check(tmp_path: Path) -> None:
    text = "print('ty' in sys.modules, 'subprocess' in sys.modules, threading.active_count())\n"
    bare = run(tmp_path / "program.py", text)
    assert bare.stdout.split()[0::2] == ["False", "1"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_server_of_its_own(tmp_path: Path) -> None:
    text = """
import os, warnings
print(asyncio.run(check('return nope')), flush=True)
warnings.simplefilter('ignore', DeprecationWarning)
child = os.fork()
if not child:
    print(asyncio.run(check('return nope')), flush=True)
    checker.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(asyncio.run(check('return nope')), flush=True)
"""
    done = run(tmp_path / "program.py", text)
    assert (done.stdout, done.stderr) == ("['unresolved-reference']\n" * 3, "")


@needs_signals
@pytest.mark.parametrize("state", ["idle", "busy", "stopped"])
def test_a_killed_host_takes_the_server_with_it(
    state: str, tmp_path: Path, temporary: Path
) -> None:
    if state == "busy" and sys.platform != "linux":
        pytest.skip("platform: elsewhere the server ends once the checks under way have ended")
    text = """
import time
import psutil
asyncio.run(check('return 1'))
(server,) = psutil.Process().children()
if sys.argv[1] == 'stopped':
    server.suspend()
if sys.argv[1] == 'busy':
    slow = threading.Thread(target=lambda: asyncio.run(check(sys.argv[2])))
    slow.start()
    before = server.cpu_times().user
    while server.cpu_times().user < before + 0.1:
        time.sleep(0.01)
print(server.pid, flush=True)
time.sleep(60)
"""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + text)
    argv = [sys.executable, str(program), state, SLOW]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        server = psutil.Process(int(host.stdout.readline()))
        host.send_signal(signal.SIGKILL)
    server.wait(timeout=5) if server.status() != psutil.STATUS_ZOMBIE else None
    (left,) = temporary.glob("lineshaft-checker-*")
    old = time.time() - 3_600
    os.utime(left, (old, old))
    done = run(program, "print(asyncio.run(check('return 1')))\n")
    assert done.stdout == "[]\n"
    assert not left.exists()


async def test_what_a_living_process_uses_is_not_swept(tmp_path: Path, checker: TyChecker) -> None:
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]
    (own,) = tmp_path.glob("lineshaft-checker-*")
    os.utime(own, (0, 0))
    assert run(tmp_path / "program.py", "print(asyncio.run(check('return 1')))\n").stdout == "[]\n"
    assert await found(checker, "return nope") == [("unresolved-reference", 1, 8)]
    assert own.exists()
