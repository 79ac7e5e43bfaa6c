"""One run cannot reach another, nor the parent, and holds no more than it may."""

import asyncio
import errno
import os
import platform
import signal
from typing import cast

import anyio
import pytest

from engines.cpython.raw import RAW
from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.values import Crashed, Limits, Outcome, Returned

# pyright: reportPrivateUsage=false
# What is attacked from inside must be known outside.

EPERM, EACCES, ENOSYS = errno.EPERM, errno.EACCES, errno.ENOSYS
CLOSED = (EPERM, EACCES, ENOSYS)

OF_OTHERS: dict[str, str] = {
    "ask whether it is there": "raw('kill', other, 0)",
    "stop it": "raw('kill', other, 19)",
    "kill it": "raw('kill', other, 9)",
    "kill its group": "raw('kill', -other, 9)",
    "kill the own group": "raw('kill', 0, 9)",
    "kill all that can be": "raw('kill', -1, 9)",
    "kill a thread of it": "raw('tgkill', other, other, 9)",
    "kill a thread": "raw('tkill', other, 9)",
    "queue a signal": "raw('rt_sigqueueinfo', other, 9, ctypes.create_string_buffer(128))",
    "trace it": "raw('ptrace', 16, other, 0, 0)",
    "be traced": "raw('ptrace', 0, 0, 0, 0)",
    "read its memory": "raw('process_vm_readv', other, None, 0, None, 0, 0)",
    "write its memory": "raw('process_vm_writev', other, None, 0, None, 0, 0)",
    "compare files with it": "raw('kcmp', os.getpid(), other, 0, 0, 0)",
    "hold it by a descriptor": "raw('pidfd_open', other, 0)",
    "take a descriptor of it": "raw('pidfd_getfd', 0, 0, 0)",
    "signal it by a descriptor": "raw('pidfd_send_signal', 0, 9, None, 0)",
    "bound it": "raw('prlimit64', other, 4, None, ctypes.create_string_buffer(16))",
    "slow it down": "raw('setpriority', 0, other, 19)",
    "schedule it": "raw('sched_setscheduler', other, 3, ctypes.create_string_buffer(8))",
    "pin it": "raw('sched_setaffinity', other, 8, ctypes.create_string_buffer(b'\\1' * 8))",
    "put it in a group": "raw('setpgid', other, other)",
    "have signals sent to it": "raw('fcntl', 1, 8, other)",
    "advise on its memory": "raw('process_madvise', 0, None, 0, 4, 0)",
}

ATTACKS: dict[str, str] = {
    "fork": "raw('fork')",
    "vfork": "raw('vfork')",
    "clone": "raw('clone', 17, 0, 0, 0, 0)",
    "clone3": "raw('clone3', ctypes.create_string_buffer(88), 88)",
    "a thread, where no package is": "raw('clone', 0x10f00, 0, 0, 0, 0)",
    "a program": "raw('execve', b'/bin/true', None, None)",
    "a program by a descriptor": "raw('execveat', 0, b'', None, None, 0x1000)",
    "a session": "raw('setsid')",
    "adopting orphans": "raw('prctl', 36, 1, 0, 0, 0)",
    "not adopting orphans": "raw('prctl', 36, 0, 0, 0, 0)",
    "outliving the parent": "raw('prctl', 1, 0, 0, 0, 0)",
    "being dumped": "raw('prctl', 4, 1, 0, 0, 0)",
    "being traced by all": "raw('prctl', 0x59616d61, -1, 0, 0, 0)",
    "a file in memory": "raw('memfd_create', b'x', 0)",
    "secret memory": "raw('memfd_secret', 0)",
    "shared memory of System V": "raw('shmget', 0, 1 << 20, 0o1600)",
    "messages of System V": "raw('msgget', 0, 0o1600)",
    "semaphores of System V": "raw('semget', 0, 1, 0o1600)",
    "a message queue": "raw('mq_open', b'x', 0o102, 0o600, None)",
    "a socket": "raw('socket', 1, 1, 0)",
    "an internet socket": "raw('socket', 2, 1, 0)",
    "a pair of sockets": "raw('socketpair', 1, 1, 0, ctypes.create_string_buffer(8))",
    "a descriptor over the wire": "raw('sendmsg', 3, ctypes.create_string_buffer(56), 0)",
    "an io_uring": "raw('io_uring_setup', 8, ctypes.create_string_buffer(120))",
    "faults of its own": "raw('userfaultfd', 0)",
    "counting events": "raw('perf_event_open', ctypes.create_string_buffer(128), 0, -1, -1, 0)",
    "a program of the kernel": "raw('bpf', 0, ctypes.create_string_buffer(128), 128)",
    "a key": "raw('add_key', b'user', b'x', b'x', 1, -2)",
    "a namespace": "raw('unshare', 0x10000000)",
    "another namespace": "raw('setns', 0, 0)",
    "a mount": "raw('mount', b'x', b'/', b'tmpfs', 0, None)",
    "another root": "raw('chroot', b'/')",
    "a watch of files": "raw('inotify_init1', 0)",
    "a timer that signals": "raw('timer_create', 1, None, ctypes.create_string_buffer(8))",
    "pages in a pipe": "raw('vmsplice', 1, None, 0, 0)",
    "a larger pipe": "raw('fcntl', 1, 1031, 1 << 20)",
    "a lock on a file": "raw('flock', 1, 2)",
    "a terminal's input": "raw('ioctl', 1, 0x5412, b'x')",
    "a file opened another way": "raw('openat2', -100, b'/', None, 0)",
    "a handle of a file": "raw('name_to_handle_at', -100, b'/', None, None, 0)",
    "another user": "raw('setuid', 1)",
    "another personality": "raw('personality', 0)",
    "a filter that asks": "raw('seccomp', 1, 8, ctypes.create_string_buffer(16))",
    "a file to write": "raw('openat', -100, file.encode(), 0o101, 0o600)",
    "a file without a name": "raw('openat', -100, folder.encode(), 0o20200002, 0o600)",
    "a file to cut": "raw('openat', -100, library.encode(), 0o1000, 0)",
    "the older way to write": "raw('open', file.encode(), 0o101, 0o600)",
    "the oldest way to write": "raw('creat', file.encode(), 0o600)",
    "a folder": "raw('mkdir', file.encode(), 0o700)",
    "a link": "raw('symlink', b'/etc', file.encode())",
    "another name": "raw('rename', library.encode(), file.encode())",
    "no name": "raw('unlink', library.encode())",
    "another time": "raw('utimensat', -100, library.encode(), None, 0)",
    "a shorter file": "raw('truncate', library.encode(), 0)",
    "the user's password file": "raw('openat', -100, b'/etc/passwd', 0, 0)",
    "its own memory as a file": "raw('openat', -100, b'/proc/self/maps', 0, 0)",
    "the list of processes": "raw('openat', -100, b'/proc', 0o200000, 0)",
    "what the machine is": "raw('openat', -100, b'/proc/cpuinfo', 0, 0)",
    "the parent's memory": "raw('openat', -100, f'/proc/{parent}/mem'.encode(), 0, 0)",
    "the parent's state": "raw('openat', -100, f'/proc/{parent}/status'.encode(), 0, 0)",
}


async def refusals(play: Play, attacks: dict[str, str], **inputs: object) -> dict[str, object]:
    """Run attacks in one script; return how each ended that was not refused."""
    tries = "\n".join(f"found[{name!r}] = {text}" for name, text in attacks.items())
    source = (
        f"{RAW}\nparent = os.getppid()\nlibrary = os.__file__\nfile = folder + '/made'\n"
        f"found = {{}}\n{tries}\nreturn found"
    )
    told = await play.value(source, **{"folder": "/scratch", "other": 1, **inputs})
    found = cast("dict[str, int | None]", told)
    assert list(found) == list(attacks)
    closed = (*CLOSED, None, *((errno.ENOENT,) if "fork" in attacks else ()))
    return {name: told for name, told in found.items() if told not in closed}


async def test_what_a_run_does_not_need_is_refused(held: Play, jailed: CPythonEngine) -> None:
    folder = str(jailed._python.root) if jailed._python else "/scratch"
    assert await refusals(held, ATTACKS) == {}
    assert (
        await refusals(held, {"a file to write": ATTACKS["a file to write"]}, folder=folder) == {}
    )


async def test_a_run_reaches_neither_its_parent_nor_another_run(
    held: Play, jailed: CPythonEngine
) -> None:
    beside = Play(jailed)
    other = asyncio.create_task(beside("import os\nawait give(os.getpid())\nreturn await hold()"))
    await beside.held.wait()
    [running] = [call.positional[0] for call in beside.calls if call.tool == "give"]
    parent = await held.value("import os\nreturn os.getppid()")
    for pid in (running, parent, 1):
        assert await refusals(held, OF_OTHERS, other=pid) == {}
    beside.release()
    assert await other == Returned(value="2")


async def test_a_run_may_signal_and_bound_itself(held: Play) -> None:
    source = f"""{RAW}
own = os.getpid()
return [raw('kill', own, 0), raw('prlimit64', 0, 4, None, ctypes.create_string_buffer(16)),
        raw('openat', -100, os.__file__.encode(), 0, 0)]
"""
    assert await held.value(source) == [0, 0, 0]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="platform: needs x86_64")
async def test_the_second_set_of_numbers_is_closed(held: Play) -> None:
    outcome = await held(f"{RAW}\nreturn raw(0x40000000 | _numbers['getpid'])")
    ended = isinstance(outcome, Crashed) and "SIGSYS" in outcome.message  # some jails are stricter
    assert ended or outcome == Returned(value=ENOSYS)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="platform: needs x86_64")
async def test_calls_of_the_older_machine_end_the_run(held: Play) -> None:
    source = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))  # getpid of i386
place = ctypes.addressof(ctypes.c_char.from_buffer(page))
return ctypes.CFUNCTYPE(ctypes.c_int)(place)()
"""
    outcome = await held(source)
    assert isinstance(outcome, Crashed)
    assert "SIGSYS" in outcome.message


HOARDS: dict[str, str] = {
    "mappings": """
import mmap
kept = []
try:
    while True:
        kept.append(mmap.mmap(-1, 1 << 20))
        kept[-1].write(b"x" * (1 << 20))
except (OSError, MemoryError):
    return len(kept)
""",
    "shared mappings of machine code": f"""{RAW}
kept = 0
while raw({{"x86_64": 9, "aarch64": 222}}[platform.machine()], 0, 1 << 20, 3, 0x8021, -1, 0) == 0:
    kept += 1
return kept
""",
    "a heap": """
kept = []
try:
    while True:
        kept.append(b"x" * 1_000_000)
except MemoryError:
    return len(kept)
""",
}


@pytest.mark.parametrize("source", HOARDS.values(), ids=HOARDS)
async def test_memory_is_bounded_by_whatever_way_it_is_held(held: Play, source: str) -> None:
    outcome = await held(source, limits=Limits(seconds=20, memory_mb=64))
    assert isinstance(outcome, Returned), outcome
    assert isinstance(outcome.value, int)
    assert 20 < outcome.value < 70


async def test_pipes_hold_little(held: Play) -> None:
    source = """
import os
held = 0
try:
    while True:
        _, end = os.pipe()
        os.set_blocking(end, False)
        try:
            while True: held += os.write(end, bytes(65536))
        except BlockingIOError:
            pass
except OSError:
    pass
return held
"""
    value = await held.value(source)
    assert isinstance(value, int)
    assert value < 20_000_000


async def test_a_parent_that_is_stopped_is_replaced(jailed: CPythonEngine) -> None:
    play = Play(jailed)
    assert await play.value("return 1") == 1
    before = jailed._forks
    assert before is not None
    os.kill(before.pid, signal.SIGSTOP)
    for number in range(3):
        assert await play.value(f"return await give({number})") == number
    assert jailed._forks is not before
    assert not before.alive()


async def test_a_run_goes_on_while_its_stopped_parent_is_replaced(jailed: CPythonEngine) -> None:
    one, other = Play(jailed), Play(jailed)
    waits = asyncio.create_task(one("await hold()\nreturn 1"))
    await one.held.wait()
    assert jailed._forks is not None
    os.kill(jailed._forks.pid, signal.SIGSTOP)
    for _ in range(2):
        assert await other.value("return 1") == 1
    one.release()
    assert await waits == Returned(value=1)


async def test_a_run_that_did_nothing_yet_is_begun_again_when_its_parent_dies(
    jailed: CPythonEngine,
) -> None:
    play = Play(jailed)
    assert await play.value("return 1") == 1
    run = asyncio.create_task(play("for n in range(20_000_000): pass\nreturn await give(1)"))
    with anyio.fail_after(10):
        while not jailed._runs:
            await asyncio.sleep(0)
    assert jailed._forks is not None
    os.kill(jailed._forks.pid, signal.SIGKILL)
    assert await run == Returned(value=1)
    assert play.tools == ["give"]


SEEN: dict[str, str] = {
    "a call": "await give(1)\nawait hold()",
    "output": "print('x')\nawait hold()",
}


@pytest.mark.parametrize("source", SEEN.values(), ids=SEEN)
async def test_a_run_of_which_something_was_seen_is_not_begun_again(
    jailed: CPythonEngine, source: str
) -> None:
    play = Play(jailed)
    run = asyncio.create_task(play(source))
    await play.held.wait()
    assert jailed._forks is not None
    os.kill(jailed._forks.pid, signal.SIGKILL)
    outcome: Outcome = await run
    assert isinstance(outcome, Crashed)
    assert len(play.calls) == source.count("await")
    assert await play.value("return 1") == 1
