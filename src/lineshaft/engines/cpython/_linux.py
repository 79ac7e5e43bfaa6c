"""Calls of Linux for the engine: the sender of a packet, processes by descriptor.

Above: `_fork_server.py` and `_worker.py`, once there is a jail, which only Linux has.
"""

import os
import signal
import socket
import struct
import sys
from collections.abc import Sequence

_CREDENTIALS = struct.Struct("3i")


def tell_senders(sock: socket.socket, *, on: bool) -> None:
    """Make the kernel name the sender of each packet, in any namespace.

    Args:
        sock: The socket that receives.
        on: False: no more.
    """
    assert sys.platform == "linux"  # noqa: S101  where the jail is
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, int(on))


def receive(sock: socket.socket, size: int) -> tuple[bytes, int | None]:
    """Return the packet, and the id of its sender; None: the sender is not known."""
    assert sys.platform == "linux"  # noqa: S101  where the jail is
    data, about, _, _ = sock.recvmsg(size, socket.CMSG_SPACE(_CREDENTIALS.size))
    known = [told for _, kind, told in about if kind == socket.SCM_CREDENTIALS]
    return data, _CREDENTIALS.unpack(known[0][: _CREDENTIALS.size])[0] if known else None


def send_descriptors(sock: socket.socket, data: bytes, fds: Sequence[int]) -> None:
    """Send some descriptors with a message that describes them."""
    assert sys.platform == "linux"  # noqa: S101  where the jail is
    socket.send_fds(sock, [data], fds)


def hold_process(pid: int) -> int:
    """Return a descriptor of a process, which can be read from once it has ended."""
    assert sys.platform == "linux"  # noqa: S101  where the jail is
    return os.pidfd_open(pid)


def kill_held(pidfd: int) -> None:
    """Kill a process by its descriptor."""
    assert sys.platform == "linux"  # noqa: S101  where the jail is
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
