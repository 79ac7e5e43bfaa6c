"""Fork server: the host's side of a parent in a jail that forks a process for each run.

Above: `_engine.py`. Below: the jail, and `inside/_forks.py` at the other end of a socket. Each run
    has descriptors of its own, so no object here belongs to an event loop.
"""

import mmap
import os
import select
import socket
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lineshaft.engines.cpython._bootstrap import boot, packets
from lineshaft.engines.cpython._linux import (
    hold_process,
    receive,
    send_descriptors,
    tell_senders,
)
from lineshaft.engines.cpython._worker import Lost, Unwell, Worker
from lineshaft.errors import EngineError
from lineshaft.sandbox.jail import Jail, Jailed, SandboxSpec

_START_SECONDS = 30.0
_FLAGS = ("-P", "-s", "-S", "-B", "-X", "utf8")
"""Those of `-I` but for the variables: there are none but the jail's, and one of them counts."""

_SPARES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkServerSettings:
    """The settings that a parent gets when it starts."""

    path: Sequence[str]
    """Folders for `sys.path`."""

    preload: Sequence[str]
    """Modules to import before the first script."""

    readable: Sequence[str]
    """Files and folders that scripts may read."""

    threads: bool
    """Whether native code may start threads."""


class ForkServer:
    """One jail with a parent in it. Methods are for any thread, except where they are async.

    Args:
        jailed: The jail.
        bell: The socket that tells the parent to fork a process.
        orders: The socket from which the process reads its descriptors.
        pid: The parent's process id, as the host sees it.
    """

    def __init__(
        self, jailed: Jailed, bell: socket.socket, orders: socket.socket, pid: int
    ) -> None:
        self._jailed = jailed
        self._bell = bell
        self._orders = orders
        self.pid = pid
        self._pidfd = hold_process(pid)
        self._lock = threading.Lock()
        self._workers: set[Worker] = set()
        self._spare: list[Worker] = []
        self._retired = False
        self._closed = False
        self.address_space = _address_space(pid)
        """Bytes that a process has before its script does anything."""

    async def worker(self) -> Worker:
        """Return a process that waits for its script.

        Raises:
            Lost: There is none to be had.
            Unwell: The parent makes none.
            EngineError: One was forked, and failed.
        """
        while True:
            with self._lock:
                ahead = bool(self._spare)
                worker = self._spare.pop() if ahead else self._fork()
            try:
                await worker.ready()
            except Lost as lost:
                self.leave(worker)
                if worker.fault:
                    why = worker.fault.splitlines()[-1]
                    raise EngineError(f"no process for a script could be started: {why}") from None
                if not ahead or isinstance(lost, Unwell):
                    raise
            except BaseException:
                self._keep(worker)
                raise
            else:
                return worker

    def _keep(self, worker: Worker) -> None:
        """Keep a process whose run was cancelled before it got it."""
        with self._lock:
            if not self.retired and len(self._spare) < _SPARES:
                self._spare.append(worker)
                return
        self.leave(worker)

    def fork_ahead(self) -> None:
        """Fork a process for the next script ahead of time."""
        with self._lock, suppress(Lost):
            while not self._retired and len(self._spare) < _SPARES:
                self._spare.append(self._fork())

    def _fork(self) -> Worker:
        if self._closed:
            raise Lost
        try:
            worker = Worker()
        except OSError as error:
            raise Lost(error.strerror or "") from None
        try:
            send_descriptors(self._orders, b"process", worker.far_ends)
            self._bell.send(b"!")
        except OSError:
            worker.handed_over()
            worker.close()
            raise Lost from None
        worker.handed_over()
        self._workers.add(worker)
        return worker

    def leave(self, worker: Worker) -> None:
        """Kill a process, and forget it."""
        worker.kill()
        with self._lock:
            self._workers.discard(worker)
            worker.close()
            last = self._retired and not self._workers
        if last:
            self.close()

    def retire(self) -> None:
        """Start no more processes; end with the last run."""
        with self._lock:
            self._retired = True
            spare, self._spare = self._spare, []
        for worker in spare:
            self.leave(worker)
        with self._lock:
            last = not self._workers
        if last:
            self.close()

    def close(self) -> None:
        """End everything in the jail."""
        with self._lock:
            if self._closed:
                return
            self._closed = self._retired = True
            workers = list(self._workers)
            spare, self._spare = self._spare, []
            self._bell.close()
            self._orders.close()
        for worker in workers:
            worker.kill()
        self._jailed.kill()
        for worker in spare:
            self.leave(worker)
        os.close(self._pidfd)

    def alive(self) -> bool:
        """Return whether the parent is still there."""
        with self._lock:
            return not self._closed and not select.select([self._pidfd], [], [], 0)[0]

    @property
    def retired(self) -> bool:
        """Whether it can no longer be used."""
        return self._retired


def start(
    jail: Jail, argv: Sequence[str], *, spec: SandboxSpec, settings: ForkServerSettings
) -> ForkServer:
    """Start a parent in a jail; blocks until it is ready.

    Args:
        jail: The boundary.
        argv: The interpreter.
        spec: Of the jail.
        settings: The parent's settings.

    Raises:
        EngineError: It did not get ready.
        NoBoundary: The jail could not be put up.
    """
    bell, far = socket.socketpair(type=socket.SOCK_SEQPACKET)
    orders, far_orders = socket.socketpair(type=socket.SOCK_SEQPACKET)
    jailed = None
    with tempfile.TemporaryFile() as log:
        try:
            with far, far_orders:
                tell_senders(bell, on=True)
                jailed = jail.start(
                    [*argv, *_FLAGS, "-c", boot()],
                    spec=spec,
                    stdin=far.fileno(),
                    stdout=log.fileno(),
                    stderr=log.fileno(),
                )
                _tell(bell, packets(settings), far_orders)
            pid = _greet(bell, log)
            return ForkServer(jailed, bell, orders, pid)
        except BaseException:
            bell.close()
            orders.close()
            if jailed is not None:
                jailed.kill()
            raise


def _tell(bell: socket.socket, order: Iterable[bytes], orders: socket.socket) -> None:
    bell.settimeout(_START_SECONDS)
    with suppress(OSError):  # it ended, and the log says why
        for packet in order:
            bell.send(packet)
        send_descriptors(bell, b"go", [orders.fileno()])


def _greet(bell: socket.socket, log: "IO[bytes]") -> int:
    pid = None
    try:
        said, pid = receive(bell, 65_536)
    except OSError as error:
        said = b"" if not isinstance(error, TimeoutError) else b"failed it took too long"
    if said != b"ready" or pid is None:
        raise EngineError(f"full Python did not start: {_why(said, log)}")
    bell.settimeout(0)
    tell_senders(bell, on=False)
    return pid


def _why(said: bytes, log: "IO[bytes]") -> str:
    if said:
        return said.decode(errors="replace").removeprefix("failed ")
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - 2000))
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended at once"


def _address_space(pid: int) -> int:
    """Return the bytes of address space that a process has."""
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * mmap.PAGESIZE
    return 0
