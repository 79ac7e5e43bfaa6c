"""Supervisor of one jail: a program that starts the processes inside and ends all of them.

Above: `_running.py` in the host, at the other end of the socket that is this program's standard
input. Below: the boundary's own process (bubblewrap, or `_syscall_broker.py` for sandlock), and the
inside. It imports nothing of Lineshaft and starts as `python -I -S -B`.

It adopts orphaned processes, so a process that forked twice and left its session is still a
descendant and ends with the rest. When the host dies, the socket ends; when this program is killed,
bubblewrap dies with it, and the broker, which watches it, ends the inside instead.

From the host: one message with the order (a JSON file) and four descriptors, then `end`, which
ends the inside. The end of the socket means the same, and that the files may go. To the host, one
message each: `started PID`, `failed TEXT`, `exited CODE`, `empty`.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

assert sys.platform == "linux"  # noqa: S101  it keeps a jail

Order = Mapping[str, object]

_SUBREAPER = 36
_FIXED_ADDRESSES = 0x40000
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
_RESTORED = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
_THREADS = 15
"""Place of their number in `/proc/PID/stat`, after the parent."""

_CHUNK = 1 << 20
_PRESSING_MS, _LOOK_MS = 20, 100
_SHELL_SIGNALS = {128 + number: -number for number in (6, 9, 11, 15, 24, 25, 31)}


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def parents() -> Iterator[tuple[int, int]]:
    """Return every living process and its parent."""
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib costs more than this program
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  as above
                    # The name of the program stands in brackets and may hold anything.
                    state, parent, *more = file.read().rpartition(b")")[2].split()
                # With threads left, only its first one has ended: the process lives on.
                if state != b"Z" or int(more[_THREADS]) > 1:
                    yield int(name), int(parent)


def descendants() -> set[int]:
    """Return the children of this process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        fresh = children.get(waiting.pop(), ())
        found.update(fresh)
        waiting.extend(fresh)
    return found


def family() -> Iterator[int]:
    """Return about the same, much cheaper: enough to look often, not to end anything."""
    waiting = [os.getpid()]
    while waiting:
        with contextlib.suppress(OSError):
            place = f"/proc/{waiting.pop()}/task"
            for task in os.listdir(place):  # noqa: PTH208  as above
                with open(f"{place}/{task}/children", "rb") as file:  # noqa: PTH123  as above
                    children = [int(word) for word in file.read().split()]
                yield from children
                waiting.extend(children)


def end_all(*, spare: int = 0) -> None:
    """Kill every descendant. All are stopped first, so that none forks while the others die.

    Args:
        spare: One that stays alive.
    """
    seen = {spare}
    while fresh := descendants() - seen:
        for pid in fresh:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        seen |= fresh
    for pid in seen - {spare}:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def code_of(status: int) -> int:
    """Return an exit code, or minus a signal's number, from a wait status."""
    return os.waitstatus_to_exitcode(status)


class JailSupervisor:
    """One jail, until no process is left in it."""

    def __init__(self, order: Order, control: socket.socket, stdio: Sequence[int]) -> None:
        self.order = order
        self.control = control
        self.stdio = stdio
        self.reports, self.reporting = os.pipe()
        self.blocked, self.release = os.pipe()
        self.main = 0
        self.exit_code: int | None = None
        self.pending = b""
        self.ending = False
        self.host_done = False
        self.told_exit = False
        self.pause = _LOOK_MS if order.get("memory_mb") else None

    def say(self, text: str) -> None:
        """Tell the host, if it is still there."""
        with contextlib.suppress(OSError):
            self.control.sendall(text.encode())

    def start(self, wake: int) -> None:
        """Start the boundary's process, with the three streams as its own."""
        self.main = os.fork()
        if self.main == 0:
            try:
                os.setsid()
                for number in _RESTORED:
                    signal.signal(number, signal.SIG_DFL)
                signal.set_wakeup_fd(-1)
                os.close(wake)
                self.become()
            except BaseException as error:  # noqa: BLE001  nothing may return into the supervisor
                with contextlib.suppress(OSError):
                    os.write(self.reporting, f"failed {type(error).__name__}: {error}\n".encode())
            os._exit(127)
        for fd in (self.reporting, self.blocked, *self.stdio):
            os.close(fd)

    def become(self) -> None:
        """Turn this fork into the boundary's process."""
        if self.order.get("fixed_addresses"):
            ctypes.CDLL(None).personality(_FIXED_ADDRESSES)
        argv = cast("list[str] | None", self.order.get("exec"))
        if argv is None:
            sys.path.extend(cast("list[str]", self.order["path"]))
            importlib.import_module("_syscall_broker").hold(self.order, self.stdio, self.reporting)
            os._exit(0)
        for target, fd in enumerate(self.stdio):
            os.dup2(fd, target)
        texts = cast("list[str]", self.order["texts"])
        passed = [memory_file(bytes.fromhex(text)) for text in texts]
        for fd in (self.reporting, self.blocked):
            os.set_inheritable(fd, True)  # noqa: FBT003  the standard library's own parameter
        names = {"{info}": str(self.reporting), "{block}": str(self.blocked)}
        names |= {f"{{{number}}}": str(fd) for number, fd in enumerate(passed)}
        own = [names.get(word, word) for word in argv]
        os.execve(own[0], [*own, *cast("list[str]", self.order["argv"])], {})  # noqa: S606  no shell

    def run(self, wake: int) -> None:
        """Serve until no process is left."""
        poll = select.poll()
        for fd in (wake, self.control.fileno(), self.reports, os.pidfd_open(os.getppid())):
            poll.register(fd, select.POLLIN)
        while self.reap():
            if self.ending:
                end_all()
            if self.over_memory():
                self.ending = True
            for fd, _ in poll.poll(_PRESSING_MS if self.ending else self.pause):
                if fd == wake:
                    os.read(fd, 4096)
                elif fd == self.reports:
                    self.forward(poll)
                elif not self.listen(fd):
                    poll.unregister(fd)
        self.forward(None)

    def forward(self, poll: "select.poll | None") -> None:
        """Pass on the reports of the boundary's process, line by line."""
        data = b"" if poll is None and not select.select([self.reports], [], [], 0)[0] else None
        data = os.read(self.reports, _CHUNK) if data is None else data
        if not data and poll is not None:
            poll.unregister(self.reports)
        self.pending += data
        if self.order.get("exec") is not None:
            self.forward_info()
            return
        *lines, self.pending = self.pending.split(b"\n")
        for line in lines:
            if line.startswith(b"started"):
                with contextlib.suppress(OSError):
                    set_limits(cast("dict[str, int]", self.order["limits"]), int(line.split()[1]))
            self.say(line.decode())
            self.told_exit = self.told_exit or line.startswith((b"exited", b"failed"))
            self.ending = self.ending or self.told_exit

    def forward_info(self) -> None:
        """Read the first process from bubblewrap's report, limit it, and let it go on."""
        with contextlib.suppress(ValueError, OSError):
            pid = json.loads(self.pending)["child-pid"]
            self.pending = b""
            set_limits(cast("dict[str, int]", self.order["limits"]), pid)
            os.write(self.release, b"1")
            self.say(f"started {pid}")

    def listen(self, fd: int) -> bool:
        """Take an order, or notice that the host is gone; return whether more can come."""
        order = b""
        if fd == self.control.fileno():
            # A host that was killed before it read all that was said is an error, not an end.
            with contextlib.suppress(OSError):
                order = self.control.recv(64)
        self.ending = True
        self.host_done = self.host_done or order != b"end"
        return order == b"end"

    def over_memory(self) -> bool:
        """Return whether all together exceed the limit, where the kernel does not count that."""
        most = cast("int", self.order.get("memory_mb", 0)) << 20
        return bool(most) and not self.ending and sum(map(memory_of, family())) > most

    def reap(self) -> bool:
        """Collect ended processes; return whether any is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.main:
                self.exit_code = code_of(status)
                self.ending = True

    def finish(self) -> None:
        """Report how the jail ended, wait until the host has read its files, and remove them."""
        if not self.told_exit:
            code = -9 if self.exit_code is None else self.exit_code
            self.say(f"exited {_SHELL_SIGNALS.get(code, code)}")
        self.say("empty")
        if self.order.get("stay"):
            while not self.host_done:
                self.listen(self.control.fileno())
        for folder in cast("list[str]", self.order["remove"]):
            remove(folder)


def remove(folder: str) -> None:
    """Remove a folder, also parts that are closed to their owner."""
    for place, _, _ in os.walk(folder, onerror=None):
        with contextlib.suppress(OSError):
            for entry in os.scandir(place):
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)  # noqa: PTH101  as above
    shutil.rmtree(folder, ignore_errors=True)


def memory_of(pid: int) -> int:
    """Return a process's share of the memory it uses, in bytes."""
    with contextlib.suppress(OSError, ValueError):
        return share_in(f"/proc/{pid}")
    with contextlib.suppress(OSError):
        # Its first thread may have ended, and shows none then; another one shows the whole.
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  as above
            with contextlib.suppress(OSError, ValueError):
                return share_in(f"/proc/{pid}/task/{thread}")
    return 0


def share_in(place: str) -> int:
    """Return the share of memory that a folder of `/proc` tells."""
    with open(f"{place}/smaps_rollup", "rb") as file:  # noqa: PTH123  as above
        text = file.read()
    return int(text.partition(b"\nPss:")[2].split()[0]) << 10


def memory_file(data: bytes) -> int:
    """Return an inheritable descriptor that reads as some bytes."""
    fd = os.memfd_create("lineshaft", 0)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def set_limits(limits: Mapping[str, int], pid: int = 0) -> None:
    """Set resource limits by name, soft and hard, never above the present ones."""
    for name, value in limits.items():
        number = cast("int", getattr(resource, name))
        _, hard = resource.prlimit(pid, number)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, number, (most, most))


def receive(control: socket.socket) -> tuple[Order, list[int]]:
    """Return the order and the descriptors for standard input, output and error."""
    _, fds, _, _ = socket.recv_fds(control, 16, 5)
    with os.fdopen(fds[0], "rb") as file:
        order = cast("Order", json.loads(file.read()))
    for fd in fds[1:]:
        os.set_inheritable(fd, False)  # noqa: FBT003  the standard library's own parameter
    return order, fds[1:4]


def ignore(_number: int, _frame: object) -> None:
    """Handle a signal by the byte that wakes the poll, and nothing else."""


def main() -> None:
    """Serve one jail."""
    control = socket.socket(fileno=os.dup(0))
    order, stdio = receive(control)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    wake, notify = os.pipe()
    for fd in (wake, notify):
        os.set_blocking(fd, False)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, ignore)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    supervisor = JailSupervisor(order, control, stdio)
    supervisor.start(wake)
    supervisor.run(wake)
    supervisor.finish()


if __name__ == "__main__":
    main()
