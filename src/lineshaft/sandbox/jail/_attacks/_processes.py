"""Attacks on other processes.

The first line of each describes it; its result is the leak that it achieved.
"""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import sys
from pathlib import Path

from lineshaft.sandbox.jail._attacks._frame import LIBC, Targets, attack, call, held, read

assert sys.platform == "linux"  # noqa: S101  it runs in a jail


@attack("find another process in /proc")
def proc_list(t: Targets) -> object:
    return read(f"/proc/{t['victim']}/cmdline") or "found"


@attack("read another process's environment")
def proc_environ(t: Targets) -> object:
    found = read(f"/proc/{t['victim']}/environ")
    return found if t["mark"] in found else held("another process")


@attack("read the host's environment")
def host_environ(t: Targets) -> object:
    return len(Path(f"/proc/{t['host']}/environ").read_bytes()) or held("empty")


@attack("read the parent's environment")
def parent_environ(_: Targets) -> object:
    return read(f"/proc/{os.getppid()}/environ") if os.getppid() > 2 else held("no parent")


@attack("open another process's memory")
def proc_memory(t: Targets) -> object:
    return os.open(f"/proc/{t['victim']}/mem", os.O_RDWR)


@attack("read another process's memory by a system call")
def vm_read(t: Targets) -> object:
    local = ctypes.create_string_buffer(8)
    here = struct.pack("PN", ctypes.addressof(local), 8)
    there = struct.pack("PN", int(t["address"]), 8)
    return call(310, 270, int(t["victim"]), here, 1, there, 1, 0)


@attack("trace another process")
def trace(t: Targets) -> object:
    call(101, 117, 16, int(t["victim"]), 0, 0)
    os.waitpid(int(t["victim"]), 0x40000000)
    return call(101, 117, 17, int(t["victim"]), 0, 0)


@attack("take a descriptor of another process")
def take_descriptor(t: Targets) -> object:
    return call(438, 438, os.pidfd_open(int(t["victim"])), 0, 0)


@attack("signal another process")
def signal_victim(t: Targets) -> object:
    return os.kill(int(t["victim"]), signal.SIGCONT)


@attack("signal the host")
def signal_host(t: Targets) -> object:
    return os.kill(int(t["host"]), 0)


@attack("signal the host through a pidfd")
def signal_pidfd(t: Targets) -> object:
    return signal.pidfd_send_signal(os.pidfd_open(int(t["victim"])), signal.SIGCONT)


@attack("signal a whole process group")
def signal_group(t: Targets) -> object:
    return os.killpg(int(t["victim"]), signal.SIGCONT)


@attack("change another process's limits")
def limit_victim(t: Targets) -> object:
    return resource.prlimit(int(t["victim"]), resource.RLIMIT_CORE, (0, 0))


@attack("change another process's priority")
def nice_victim(t: Targets) -> object:
    return os.setpriority(os.PRIO_PROCESS, int(t["victim"]), 5)


@attack("move another process to other processors")
def move_victim(t: Targets) -> object:
    return os.sched_setaffinity(int(t["victim"]), os.sched_getaffinity(0))


@attack("attach shared memory of another process")
def shared_memory(t: Targets) -> object:
    LIBC.shmat.restype = ctypes.c_void_p
    place = LIBC.shmat(int(t["shm"]), None, 0o10000)
    return place if place not in (None, 2**64 - 1) else held(os.strerror(ctypes.get_errno()))


@attack("read shared memory in /dev/shm")
def posix_memory(t: Targets) -> object:
    return read(t["posix_shm"])


@attack("see the host's environment variables")
def variables(t: Targets) -> object:
    return t["mark"] in os.environ.get("LINESHAFT_PROBE", "") or held("clean")


@attack("find an open descriptor of the host")
def descriptors(t: Targets) -> object:
    for fd in range(3, 256):
        with contextlib.suppress(OSError):
            if t["mark"].encode() in os.pread(fd, 200, 0):
                return fd
    return held("none")
