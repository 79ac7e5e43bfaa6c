"""Several processes on one store, and hosts that are killed in the middle."""

import fcntl
import os
import random
import signal
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from lineshaft.errors import RunBusy, StateError
from lineshaft.store import Store
from lineshaft.values import Value
from store.samples import KEY, Clock, begin, call, event, host, left_by, pause, resume, run, sink

WORKS = """
record = sink(store, "/w")
record(event(1, "run_started", name="s.py"))
state = await begin(store, run())
seq = 1
for n in range(100_000):
    for _ in range(20):
        seq += 1
        record(event(seq, "progress", text="x" * 50))
    await state.finished(call(f"r{n}", "read"), Value("y" * 200))
    await state.started(call(n))
    print("started", n, flush=True)
    await state.finished(call(n), Value(n))
    print("finished", n, flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize("lines", [1, 2, *random.Random(4).sample(range(3, 120), 6)])  # noqa: S311  chosen once
async def test_a_host_that_is_killed_leaves_all_that_it_was_told_is_kept(
    path: Path, lines: int
) -> None:
    with host(WORKS, path) as process:
        assert process.stdout is not None
        told = [process.stdout.readline().split() for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        told += [line.split() for line in process.stdout.read().splitlines()]
    begun = {word for what, word in told if what == "started"}
    ended = {word for what, word in told if what == "finished"}
    async with Store(path, key=KEY) as store:
        events = await store.events("r")
        assert [each.seq for each in events] == list(range(1, len(events) + 1))
        assert events[0].kind == "run_started"
        assert events[-1].kind == "run_finished"
        assert [each.status for each in await store.runs()] == ["interrupted"]
        saved, state = await resume(store, "r")
        acted = [each for each in saved.finished if each.call.effect != "read"]
        finished = {each.call.id.removeprefix("c") for each in acted}
        assert ended <= finished
        assert begun <= finished | {each.id.removeprefix("c") for each in saved.unknown}
        assert len(saved.unknown) <= 1
        assert all(each.done == Value(int(each.call.id[1:])) for each in acted)
        assert saved.last_seq == len(events)
        await state.over(replayable=False)


async def test_of_many_that_resume_a_run_at_once_one_gets_it(path: Path) -> None:
    async with Store(path, key=KEY) as store:
        await (await begin(store, run())).paused(pause("c1", snapshot=b"x"))
    taking = """
    from lineshaft.errors import RunBusy, StateError
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        saved, state = await resume(store, "r")
        await state.started(call(1))
        print("won", flush=True)
    except RunBusy as error:
        print("busy:", error, flush=True)
    sys.stdin.readline()
    """
    with ExitStack() as stack:
        hosts = [stack.enter_context(host(taking, path)) for _ in range(5)]
        for each in hosts:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        for each in hosts:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        said = [each.stdout.readline() for each in hosts if each.stdout is not None]
        winner = hosts[said.index("won\n")].pid
        for each in hosts:
            each.communicate("end\n", timeout=60)
    assert sorted(said)[:-1] == [f"busy: run 'r' goes on: process {winner} works on it\n"] * 4
    async with Store(path, key=KEY) as store:
        assert (await store.load("r")).unknown == (call(1),)


async def test_several_processes_write_at_once_and_nothing_is_lost(path: Path) -> None:
    writes = """
    name = f"r{os.getpid()}"
    record = sink(store, "/w")
    state = await begin(store, run(name))
    for seq in range(1, 301):
        record(event(seq, "log", name))
        if seq % 10 == 0:
            await state.started(call(seq))
            await state.finished(call(seq), Value(seq))
    record(event(301, "run_finished", name, status="success"))
    await state.over(replayable=True)
    await store.aclose()
    """
    with ExitStack() as stack:
        hosts = [stack.enter_context(host(writes, path)) for _ in range(4)]
        for each in hosts:
            each.communicate(timeout=60)
            assert each.returncode == 0
    async with Store(path, key=KEY) as store:
        for each in hosts:
            name = f"r{each.pid}"
            assert [e.seq for e in await store.events(name)] == list(range(1, 302))
            assert len((await store.load(name)).finished) == 30


async def test_a_run_of_a_living_process_is_left_to_it(path: Path) -> None:
    waits = """
    state = await begin(store, run())
    print("begun", flush=True)
    sys.stdin.readline()
    await state.started(call(1))
    print("started", flush=True)
    sys.stdin.readline()
    """
    with host(waits, path) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "begun\n"
        async with Store(path, key=KEY) as store:
            for step in (resume(store, "r"), store.cancel("r")):
                with pytest.raises(RunBusy, match=f"process {process.pid} works on it"):
                    await step
            assert [each.status for each in await store.runs()] == ["running"]
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "started\n"
            assert (await store.load("r")).unknown == (call(1),)
            # Killed and not yet waited for: a zombie is nobody.
            process.send_signal(signal.SIGKILL)
            assert process.stdout.read() == ""
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222  it is dead
            assert [each.status for each in await store.runs()] == ["interrupted"]
            saved, _ = await resume(store, "r")
            assert saved.unknown == (call(1),)


async def test_a_number_that_another_process_has_now_is_no_sign_of_life(path: Path) -> None:
    left_by("await begin(store, run())", path)
    async with Store(path, key=KEY) as store:
        await store.flush()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE runs SET owner_pid = ?", (os.getpid(),))
    connection.close()
    async with Store(path, key=KEY) as store:
        await resume(store, "r")


async def test_a_session_that_was_taken_over_can_keep_nothing_more(path: Path) -> None:
    """As after a machine slept for long: the other one thought that this host had died."""
    async with Store(path, key=KEY) as first, Store(path, key=KEY) as second:
        state = await begin(first, run())
        await state.paused(pause("c1"))
        await resume(second, "r")
        for step in (state.started(call(1)), state.paused(pause("c2"))):
            with pytest.raises(RunBusy, match="another process took it"):
                await step


async def test_a_store_goes_on_in_the_child_of_a_fork(path: Path) -> None:
    async with Store(path, key=KEY) as store:
        await begin(store, run())
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0  # noqa: ASYNC222  it ends by itself
        await begin(store, run("q"))


def lease(path: Path, *, seconds: float, mark: str | None = None) -> None:
    """Set the leases of all runs, and whose they are, behind the store's back.

    Args:
        path: The store.
        seconds: How long they last from now on.
        mark: Boot, PID namespace and start of their owner, where it is to be another one.
    """
    now = "(julianday('now') - 2440587.5) * 86400.0"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE runs SET lease_until = {now} + ?", (seconds,))  # noqa: S608  text of our own
        if mark is not None:
            connection.execute("UPDATE runs SET owner_mark = ?", (mark,))


ELSEWHERE = ["another-boot/pid:[1]/5", "BOOT/pid:[1]/5"]
"""Another machine, or this one before it was started anew; another container of this machine."""


@pytest.mark.parametrize("mark", ELSEWHERE)
async def test_a_run_of_a_process_elsewhere_is_its_own_until_its_lease_ends(
    path: Path, mark: str
) -> None:
    left_by("sink(store, '/w')(event(1, 'run_started'))\nawait begin(store, run())", path)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    lease(path, seconds=3_600, mark=mark.replace("BOOT", boot))
    async with Store(path, key=KEY) as store:
        assert [each.status for each in await store.runs()] == ["running"]
        assert [each.kind for each in await store.events("r")] == ["run_started"]
        with pytest.raises(RunBusy, match="works on it"):
            await resume(store, "r")
        lease(path, seconds=-1)
        assert [each.status for each in await store.runs()] == ["interrupted"]
        saved, _ = await resume(store, "r")
        assert saved.run == run()


@contextmanager
def stopped(works: str, path: Path) -> Generator[subprocess.Popen[str]]:
    """Start a host, and stop its process once it has said that it has begun."""
    with host(works, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        yield process


async def test_a_lease_that_ended_may_be_taken_though_its_owner_lives(path: Path) -> None:
    """As of a process that was stopped (Ctrl-Z), or whose machine slept."""
    waits = """
    from lineshaft.errors import RunBusy
    record = sink(store, "/w")
    record(event(1, "run_started"))
    state = await begin(store, run())
    print("begun", flush=True)
    sys.stdin.readline()
    record(event(2, "log", text="of the one that lost the run"))
    try:
        await state.started(call(1))
    except RunBusy as error:
        print(error, flush=True)
    await store.aclose()
    """
    with stopped(waits, path) as process:
        lease(path, seconds=-1)
        async with Store(path, key=KEY) as store:
            saved, _ = await resume(store, "r")
            process.send_signal(signal.SIGCONT)
            said, _ = process.communicate("go\n", timeout=60)
            sink(store, "/w")(event(3, "run_resumed"))
            kinds = [each.kind for each in await store.events("r")]
        assert saved.last_seq == 2
        assert "another process took it" in said
        assert kinds == ["run_started", "run_finished", "run_resumed"]


async def test_a_run_whose_process_lives_goes_on_after_any_sleep(path: Path, clock: Clock) -> None:
    """As where a clock goes years ahead, and another process is faster than the renewal."""
    waits = """
    record = sink(store, "/w")
    record(event(1, "run_started"))
    state = await begin(store, run())
    print("begun", flush=True)
    sys.stdin.readline()
    record(event(2, "log", text="of the one that slept"))
    await state.started(call(1))
    print("started", flush=True)
    await store.aclose()
    """
    with stopped(waits, path) as process:
        lease(path, seconds=-90_000)
        clock.pass_(days=3_000)
        async with Store(path, key=KEY, clock=clock) as store:
            await begin(store, run("q"))
            await store.prune()
            process.send_signal(signal.SIGCONT)
            said, _ = process.communicate("go\n", timeout=60)
            events = await store.events("r")
    assert said == "started\n"
    assert [each.kind for each in events][:2] == ["run_started", "log"]


async def test_of_a_lease_that_ended_nothing_is_written_before_somebody_takes_the_run(
    path: Path,
) -> None:
    left_by("sink(store, '/w')(event(1, 'run_started'))\nawait begin(store, run())", path)
    lease(path, seconds=-1, mark=ELSEWHERE[0])
    async with Store(path, key=KEY) as store:
        await begin(store, run("q"))
        assert {each.run_id: each.status for each in await store.runs()}["r"] == "interrupted"
        lease(path, seconds=3_600)
        assert {each.run_id: each.status for each in await store.runs()}["r"] == "running"
        lease(path, seconds=-90_000)
        await store.prune()
        lease(path, seconds=3_600)
        assert {each.run_id: each.status for each in await store.runs()}["r"] == "interrupted"


async def test_a_lease_that_ended_and_that_nobody_took_goes_on(path: Path) -> None:
    waits = """
    state = await begin(store, run())
    print("begun", flush=True)
    sys.stdin.readline()
    await state.started(call(1))
    print("started", flush=True)
    """
    with host(waits, path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        lease(path, seconds=-1)
        said, _ = process.communicate("go\n", timeout=60)
        assert said == "started\n"


@contextmanager
def locked(folder: Path, kind: int) -> Generator[None]:
    """Hold the lock that keeps checkpoints and commits of a store apart, as another process."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, kind)
        yield
    finally:
        os.close(handle)


async def test_nothing_is_committed_while_another_process_makes_a_checkpoint(path: Path) -> None:
    async with Store(path, key=KEY, patience=0.3) as store:
        state = await begin(store, run())
        with (
            locked(path.parent, fcntl.LOCK_EX),
            pytest.raises(StateError, match=r"'store.db' is locked by another process"),
        ):
            await state.started(call(1))
        await state.started(call(2))
        assert (await store.load("r")).unknown == (call(2),)


async def test_no_checkpoint_is_made_while_another_process_commits(path: Path) -> None:
    log = path.with_name("store.db-wal")
    async with Store(path, key=KEY, patience=0.3) as store:
        await begin(store, run())
        with locked(path.parent, fcntl.LOCK_SH):
            await store.prune()
            assert log.stat().st_size > 0
        await store.prune()
        assert log.stat().st_size == 0
