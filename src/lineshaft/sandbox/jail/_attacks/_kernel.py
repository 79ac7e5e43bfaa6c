"""Attacks by the kernel's privileged or rarely used parts.

The first line of each describes it; its result is the leak that it achieved.
"""

import ctypes
import os
import signal
import socket
import struct
import sys
from pathlib import Path

from lineshaft.sandbox.jail._attacks._frame import LIBC, Targets, attack, call, held, read

assert sys.platform == "linux"  # noqa: S101  it runs in a jail


@attack("read the kernel's messages")
def kernel_log(_: Targets) -> object:
    size = LIBC.klogctl(3, ctypes.create_string_buffer(100), 100)
    if size <= 0:
        raise OSError(ctypes.get_errno(), "klogctl")
    return size


@attack("read a disk through a device node of one's own")
def device(_: Targets) -> object:
    os.mknod("disk", 0o60600, Path("/").stat().st_dev)
    try:
        return read("disk")
    finally:
        Path("disk").unlink()


@attack("become root, or another user")
def set_user(_: Targets) -> object:
    return os.setuid(0 if os.getuid() else 1)


@attack("have capabilities")
def capabilities(_: Targets) -> object:
    header, sets = struct.pack("II", 0x20080522, 0), ctypes.create_string_buffer(24)
    call(125, 90, header, sets)
    return any(sets.raw[:8]) or held("none")


@attack("gain privileges by starting a program")
def new_privileges(_: Targets) -> object:
    return LIBC.prctl(39, 0, 0, 0, 0) == 0 or held("no new privileges")


@attack("mount a file system")
def mount(_: Targets) -> object:
    Path("mnt").mkdir(exist_ok=True)
    call(165, 40, b"none", b"mnt", b"tmpfs", 0, 0)
    return call(166, 39, b"mnt", 2)


@attack("make a user namespace")
def user_namespace(_: Targets) -> object:
    return call(272, 97, 0x10000000)


@attack("make a user namespace by clone")
def clone_namespace(_: Targets) -> object:
    child = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    return child if child else os._exit(0)


@attack("make a user namespace by clone3")
def clone3_namespace(_: Targets) -> object:
    arguments = struct.pack("8Q", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = call(435, 435, arguments, 64)
    return child if child else os._exit(0)


@attack("enter another process's namespace")
def enter_namespace(t: Targets) -> object:
    return call(308, 268, os.pidfd_open(int(t["victim"])), 0x08000000)


@attack("change the root folder")
def chroot(_: Targets) -> object:
    return os.chroot(".")


@attack("change the host's name")
def host_name(_: Targets) -> object:
    return socket.sethostname(socket.gethostname())


@attack("read a key of the kernel's keyrings")
def read_key(t: Targets) -> object:
    key = call(250, 219, 10, int(t["keyring"]), b"user", t["mark"].encode(), 0)
    return call(250, 219, 11, key, ctypes.create_string_buffer(64), 64)


@attack("add a key to a keyring")
def add_key(_: Targets) -> object:
    return call(248, 217, b"user", b"lineshaft-probe", b"x", 1, -2)


@attack("load a program into the kernel")
def bpf(_: Targets) -> object:
    return call(321, 280, 0, struct.pack("IIIIQ", 2, 4, 8, 1, 0).ljust(128, b"\0"), 128)


@attack("measure other processes")
def perf(t: Targets) -> object:
    about = struct.pack("IIQQ", 1, 112, 1, 0).ljust(112, b"\0")
    return call(298, 241, about, int(t["victim"]), -1, -1, 0)


@attack("handle page faults in a program of one's own")
def userfaultfd(_: Targets) -> object:
    return call(323, 282, os.O_CLOEXEC)


@attack("pass system calls through a ring")
def io_uring(_: Targets) -> object:
    return call(425, 425, 4, ctypes.create_string_buffer(120))


@attack("type into a terminal")
def typing(_: Targets) -> object:
    master, slave = os.openpty()
    os.setsid()
    LIBC.ioctl(slave, 0x540E, 0)
    if LIBC.ioctl(slave, 0x5412, b"x") != 0:
        raise OSError(ctypes.get_errno(), "TIOCSTI")
    return master
