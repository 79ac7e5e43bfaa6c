"""A running jail, seen from the host.

Above: the jails. Below: `_supervisor.py`, a process of its own, over a socket.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lineshaft.errors import EngineError, NoBoundary
from lineshaft.sandbox.jail._scratch import Scratch
from lineshaft.sandbox.jail._spec import Changes

_SUPERVISOR = Path(__file__).with_name("_supervisor.py")
_START_SECONDS = 20.0
_END_SECONDS = 10.0
_CHUNK = 1 << 24


class RunningJail:
    """The processes inside one jail.

    Args:
        order: The order to the supervisor.
        stdio: Descriptors that become 0, 1 and 2 inside.
        scratch: The jail's private folder.
        changes: Reads the changes to the folder kept apart; None where there is none.

    Raises:
        NoBoundary: The boundary could not be put up.
    """

    def __init__(
        self,
        order: Mapping[str, object],
        stdio: Sequence[int],
        *,
        scratch: Scratch,
        changes: Callable[[], Changes] | None = None,
    ) -> None:
        self._read_changes = changes
        self._changes: Changes | None = None
        self._lock = threading.RLock()
        self._pid = 0
        self._exit_code: int | None = None
        self._empty = False
        self._failed = ""
        self._control, far = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _CHUNK)
        self._supervisor = _start_supervisor(far)
        self._close = weakref.finalize(self, _close, self._control, self._supervisor, scratch)
        try:
            _send(self._control, order, [*stdio, scratch.lock])
            self._await_start()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Of the first process inside, as the host sees it."""
        return self._pid

    def wait(self, timeout: float | None = None) -> int | None:
        """Return how the first process ended, or None if it has not."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._empty:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not _readable(self._control, left):
                return None
            self._hear()
        if self._read_changes is None:
            self.close()
        return self._exit_code

    def kill(self) -> None:
        """End everything inside and return once it is gone."""
        with contextlib.suppress(OSError):
            self._control.send(b"end")
        if self.wait(_END_SECONDS) is None:
            # The supervisor does not answer; its watcher ends the inside.
            self._supervisor.kill()
            self.wait(_END_SECONDS)

    def changes(self) -> Changes:
        """Return the changes to the folder kept apart."""
        if self._read_changes is None:
            raise EngineError("no folder was kept apart in this jail")
        if self.wait(0) is None:
            raise EngineError("changes are known only after the end")
        if self._changes is None:
            try:
                self._changes = self._read_changes()
            except OSError as error:
                raise EngineError("the run was ended before it could report its changes") from error
        return self._changes

    def close(self) -> None:
        """End everything inside and remove the jail's files."""
        self._close()

    def _await_start(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while not self._pid:
            if (
                self._failed
                or self._empty
                or not _readable(self._control, max(0.0, until - time.monotonic()))
            ):
                reason = self._failed or "it gave no sign of life"
                raise NoBoundary(f"the jail could not be put up: {reason}")
            self._hear()

    def _hear(self) -> None:
        with self._lock:
            if self._empty or not _readable(self._control, 0):
                return
            try:
                message = self._control.recv(_CHUNK)
            except OSError:
                message = b""
            self._take(message.decode(errors="replace"))

    def _take(self, message: str) -> None:
        word, _, rest = message.partition(" ")
        if word == "started":
            self._pid = int(rest)
        elif word == "failed":
            self._failed = rest
        elif word == "exited":
            self._exit_code = int(rest)
        else:
            self._exit_code = -9 if self._exit_code is None else self._exit_code
            self._empty = True


def check_program(argv: Sequence[str]) -> None:
    """Refuse a program that cannot be started, before any process starts.

    Raises:
        EngineError: The program is missing, or not to be run.
    """
    if not argv or not Path(argv[0]).is_absolute() or not os.access(argv[0], os.X_OK):
        raise EngineError(f"no program can be started from {list(argv[:1])!r}")
    if any("\0" in word for word in argv):
        raise EngineError("an argument holds a NUL character")


def _start_supervisor(far: socket.socket) -> "subprocess.Popen[bytes]":
    with far:
        return subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-I", "-S", "-B", str(_SUPERVISOR)],
            stdin=far.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"HOME": "/", "TMPDIR": "/tmp"},  # noqa: S108  not used, but must be set
            start_new_session=True,
        )


def _send(control: socket.socket, order: Mapping[str, object], fds: Sequence[int]) -> None:
    if sys.platform != "linux":
        raise NoBoundary("programs run in jails on Linux only")
    file = os.memfd_create("lineshaft")
    try:
        with os.fdopen(os.dup(file), "wb") as writer:
            writer.write(json.dumps(order).encode())
        os.lseek(file, 0, os.SEEK_SET)
        socket.send_fds(control, [b"order"], [file, *fds])
    finally:
        os.close(file)


def _readable(control: socket.socket, seconds: float | None) -> bool:
    if sys.platform == "win32" or control.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(control, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1000))


def _close(control: socket.socket, supervisor: "subprocess.Popen[bytes]", scratch: Scratch) -> None:
    """Hang up, which ends the inside, and wait until the supervisor is gone."""
    control.close()
    try:
        supervisor.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
    scratch.discard()
