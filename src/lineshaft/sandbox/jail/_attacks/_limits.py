"""Attacks on the machine's resources.

The first line of each describes it; its result is the leak that it achieved.
"""

import ctypes
import mmap
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path

from lineshaft.sandbox.jail._attacks._frame import (
    LIBC,
    MEGABYTE,
    Targets,
    attack,
    call,
    held,
)

assert sys.platform == "linux"  # noqa: S101  it runs in a jail

_SHARED = Path("/dev/shm")  # noqa: S108  it is the target of the attack


@attack("start more processes than allowed")
def fork_bomb(t: Targets) -> object:
    children: list[int] = []
    try:
        for _ in range(int(t["processes"]) + 8):
            child = os.fork()
            if child == 0:
                # Sandlock forgets a child that is killed before a call it answers.
                Path("/dev/null").read_bytes()
                time.sleep(30)
                os._exit(0)
            children.append(child)
        return len(children)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


@attack("use more memory than allowed")
def memory(t: Targets) -> object:
    block = mmap.mmap(-1, 2 * int(t["memory_mb"]) * MEGABYTE)
    for place in range(0, len(block), 4096):
        block[place] = 1
    return len(block)


@attack("use more memory than allowed, in several processes")
def memory_shares(t: Targets) -> object:
    share = int(t["memory_mb"]) // 2 * MEGABYTE
    ready, done = os.pipe(), os.pipe()
    for _ in range(3):
        if os.fork() == 0:
            block = mmap.mmap(-1, share)
            for place in range(0, share, 4096):
                block[place] = 1
            os.write(ready[1], b"x")
            os.close(done[1])
            os.read(done[0], 1)
            os._exit(0)
    os.close(ready[1])
    seen = b""
    while len(seen) < 3 and select.select([ready[0]], [], [], 3)[0]:
        seen += (new := os.read(ready[0], 3))
        if not new:
            break
    # Some boundaries look only now and then.
    time.sleep(0.5)
    return len(seen) if len(seen) == 3 else held(f"{len(seen)} of 3")


@attack("keep more memory than allowed in files without a name")
def memory_files(t: Targets) -> object:
    kept = 0
    for _ in range(4):
        file = os.memfd_create("kept")
        for _ in range(int(t["memory_mb"])):
            kept += os.write(file, bytes(MEGABYTE))
    time.sleep(0.5)  # some boundaries look only now and then
    return kept


@attack("keep more memory than allowed in secret memory")
def secret_memory(t: Targets) -> object:
    share = int(t["memory_mb"]) // 2 * MEGABYTE
    for _ in range(4):
        file = call(447, 447, 0)
        os.ftruncate(file, share)
        with mmap.mmap(file, share) as block:
            for place in range(0, share, 4096):
                block[place] = 1
    time.sleep(0.5)
    return 4 * share


@attack("keep more memory than allowed in shared memory of System V")
def system_v_memory(t: Targets) -> object:
    share = int(t["memory_mb"]) // 2 * MEGABYTE
    LIBC.shmat.restype = ctypes.c_void_p
    kept: list[int] = []
    try:
        for _ in range(4):
            kept.append(call(29, 194, 0, share, 0o1600))
            place = LIBC.shmat(kept[-1], None, 0)
            ctypes.memset(place, 1, share)
            LIBC.shmdt(ctypes.c_void_p(place))
        time.sleep(0.5)
        return share * len(kept)
    finally:
        for one in kept:
            LIBC.shmctl(one, 0, None)


@attack("keep more memory than allowed in shared files")
def shared_files(t: Targets) -> object:
    kept = 0
    try:
        for number in range(4 * int(t["memory_mb"])):
            with (_SHARED / f"kept-{os.getpid()}-{number}").open("wb") as file:
                kept += file.write(bytes(MEGABYTE))
        time.sleep(0.5)
        return kept
    finally:
        for path in _SHARED.glob(f"kept-{os.getpid()}-*"):
            path.unlink()


@attack("write a larger file than allowed")
def big_file(t: Targets) -> object:
    with Path("big").open("wb") as file:
        for _ in range(int(t["file_mb"]) + 1):
            file.write(bytes(MEGABYTE))
    return Path("big").stat().st_size


@attack("open more files than allowed")
def many_files(t: Targets) -> object:
    return len([os.open("/dev/null", os.O_RDONLY) for _ in range(int(t["open_files"]) + 1)])


@attack("raise the limits again")
def raise_limits(t: Targets) -> object:
    most = int(t["open_files"]) * 2
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


@attack("compute for longer than allowed")
def compute(t: Targets) -> object:
    until = time.process_time() + int(t["cpu_seconds"]) + 0.5
    while time.process_time() < until:
        pass
    return "computed"
