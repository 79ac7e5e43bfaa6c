"""A warm parent in its jail, as the host holds it: started, asked to fork, replaced.

Above: `_engine.py`. Below: the jail, and `_inside/_parent.py` at the other end of a socket. All
that concerns one run goes over descriptors of its own, so nothing here belongs to an event loop.
"""

import asyncio
import json
import os
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import IO

from lineshaft.engines._cpython._seat import Lost, Seat
from lineshaft.engines._cpython._shipped import boot, packets
from lineshaft.engines._cpython._tree import (
    address_space,
    children,
    descendants,
    end_all,
    inner_pid,
)
from lineshaft.engines._jail import Jail, Jailed, Walls
from lineshaft.errors import EngineError

_START_SECONDS = 30.0
_STRAY_SECONDS = 5.0
_LOOKS = 500
_LOOK_SECONDS = 0.001
_Find = Callable[[int, Collection[int | None]], set[int]]
_FLAGS = ("-P", "-s", "-S", "-B", "-X", "utf8")
"""Those of `-I` but for the variables: there are none but the jail's, and one of them counts."""

_CREDENTIALS = struct.Struct("3i")
_SPARES = 1


class Warm:
    """One jail with a parent in it. Methods are for any thread, except where they are async.

    Args:
        jailed: The jail.
        control: The socket to the parent.
        pid: The parent's, as the host sees it.
    """

    def __init__(self, jailed: Jailed, control: socket.socket, pid: int) -> None:
        self._jailed = jailed
        self._control = control
        self._pid = pid
        self._lock = threading.Lock()
        self._seats: dict[int, Seat] = {}
        self._spare: list[Seat] = []
        self._count = 0
        self._closed = False
        self._memory_mb = 0
        self.address_space = address_space(pid)
        """Bytes that a child has before its script does anything."""

        self.fork_ahead()

    async def seat(self) -> Seat:
        """Return a child that waits for its script.

        Raises:
            Lost: There is none to be had.
        """
        while True:
            with self._lock:
                ahead = bool(self._spare)
                seat = self._spare.pop() if ahead else self._fork()
            try:
                await seat.ready()
            except Lost:
                self.leave(seat)
                if not ahead:
                    raise
            except BaseException:
                self._keep(seat)
                raise
            else:
                return seat

    def _keep(self, seat: Seat) -> None:
        """Keep a child that somebody did not wait for."""
        with self._lock:
            if not self._closed and len(self._spare) < _SPARES:
                self._spare.append(seat)
                return
        self.leave(seat)

    def fork_ahead(self, memory_mb: int = 0) -> None:
        """Have a child ready for the next script.

        Args:
            memory_mb: What that will probably be given.
        """
        with self._lock, suppress(Lost):
            self._memory_mb = memory_mb or self._memory_mb
            while len(self._spare) < _SPARES:
                self._spare.append(self._fork())

    def _fork(self) -> Seat:
        if self._closed:
            raise Lost
        self._count += 1
        seat = Seat(self._count)
        try:
            order = json.dumps({"fork": seat.number, "memory_mb": self._memory_mb}).encode()
            socket.send_fds(self._control, [order], seat.far_ends)
        except OSError:
            seat.handed_over()
            seat.close()
            raise Lost from None
        seat.handed_over()
        self._seats[seat.number] = seat
        return seat

    async def end(self, seat: Seat) -> None:
        """Wait until a child that was killed is gone, and end all that came of it."""
        await seat.dead()
        seat.ended = True
        if seat.orphaned or not await self._end_strays():
            await asyncio.to_thread(self.close)

    def leave(self, seat: Seat) -> None:
        """Forget a child that has ended, or end one that has no script."""
        if not seat.ended:
            seat.kill()
        with self._lock:
            if self._seats.pop(seat.number, None) is None:
                return
            seat.close()
            with suppress(OSError):
                self._control.send(json.dumps({"bury": seat.number}).encode())

    async def _end_strays(self) -> bool:
        """Kill what left its run's group: the parent adopts it when the run's child ends."""
        if not children(self._pid, self._pids()) or self._strays_below(children) == set():
            return True
        loop = asyncio.get_running_loop()
        until = loop.time() + _STRAY_SECONDS
        while await asyncio.to_thread(end_all, self._all_strays):
            if loop.time() > until:
                return False
        return True

    def _pids(self) -> set[int | None]:
        with self._lock:
            return {seat.pid for seat in self._seats.values()}

    def _strays_below(self, find: _Find) -> set[int] | None:
        """Return what lives in the jail and belongs to no run; None: it cannot be told now."""
        with self._lock:
            unborn = [seat for seat in self._seats.values() if not self._is_there(seat)]
        expected = {seat.inner_pid for seat in unborn}
        found = find(self._pid, self._pids())
        if found and None in expected:  # the parent forks right now, and has not told the number
            return None
        return {pid for pid in found if not expected or inner_pid(pid) not in expected}

    def _all_strays(self) -> set[int]:
        for _ in range(_LOOKS):
            found = self._strays_below(descendants)
            if found is not None:
                return found
            time.sleep(_LOOK_SECONDS)
        return set()

    def _is_there(self, seat: Seat) -> bool:
        """Return whether a child's process id is known, or there is none."""
        try:
            return seat.pid is not None or seat.peek()
        except Lost:
            return True

    def close(self) -> None:
        """End everything in the jail."""
        with self._lock:
            self._closed = True
            seats = list(self._seats.values())
            spare, self._spare = self._spare, []
            self._control.close()
        for seat in seats:
            seat.kill()
        self._jailed.kill()
        for seat in spare:
            self.leave(seat)

    def alive(self) -> bool:
        """Return whether the parent is still there."""
        return not self._closed and self._jailed.wait(0) is None

    @property
    def closed(self) -> bool:
        """Whether it can be used no more."""
        return self._closed


def start(
    jail: Jail, argv: Sequence[str], *, walls: Walls, path: Sequence[str], preload: Sequence[str]
) -> Warm:
    """Start a parent in a jail; blocks until it is ready.

    Args:
        jail: The boundary.
        argv: The interpreter.
        walls: What the jail lets through.
        path: Folders for `sys.path`.
        preload: Modules to import before the first script.

    Raises:
        EngineError: It did not get ready.
        NoBoundary: The jail could not be put up.
    """
    control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryFile() as log:
        try:
            with far:
                control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
                jailed = jail.start(
                    [*argv, *_FLAGS, "-c", boot()],
                    walls=walls,
                    stdin=far.fileno(),
                    stdout=log.fileno(),
                    stderr=log.fileno(),
                )
        except BaseException:
            control.close()
            raise
        try:
            pid = _greet(control, packets(path=path, preload=preload), log)
        except BaseException:
            control.close()
            jailed.kill()
            raise
    return Warm(jailed, control, pid)


def _greet(control: socket.socket, order: Iterable[bytes], log: "IO[bytes]") -> int:
    control.settimeout(_START_SECONDS)
    said = b""
    about: list[tuple[int, int, bytes]] = []
    try:
        for packet in order:
            control.send(packet)
        said, about, _, _ = control.recvmsg(65_536, socket.CMSG_SPACE(_CREDENTIALS.size))
    except OSError as error:
        said = b"" if not isinstance(error, TimeoutError) else b"failed it took too long"
    if said != b"ready" or not about:
        raise EngineError(f"full Python did not start: {_why(said, log)}")
    control.settimeout(0)
    control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    return _CREDENTIALS.unpack(about[0][2][: _CREDENTIALS.size])[0]


def _why(said: bytes, log: "IO[bytes]") -> str:
    if said:
        return said.decode(errors="replace").removeprefix("failed ")
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - 2000))
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended at once"
