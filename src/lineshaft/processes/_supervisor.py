"""Supervisor of one command: a program that runs it and ends its whole process tree.

Above: `_running.py` in the host, at the other end of the socket that is this program's standard
input. Below: the command. It imports nothing of Lineshaft and starts as `python -I -S -B`.

Why a process of its own for each command, at some 10 ms a start: a process that adopts orphans
(`PR_SET_CHILD_SUBREAPER`) adopts those of all its code, which a library must not do to its host;
`PR_SET_PDEATHSIG` is bound to the thread that forked and is lost by the first descendant that
forks; process groups and sessions end at the first `setsid`. Here a daemon that forked twice stays
a descendant, a host that was killed shows as the end of the socket, and `SIGTERM`, grace and
`SIGKILL` need no other process. Not covered: a command that kills its supervisor is ended by the
host, which knows descendants only by a mark in their environment; and this is no jail.

Its first argument is the descriptor that becomes the command's standard input, or `-` for none.
To the host, one line each: `started PID`, `failed ERRNO`, `exited CODE`, `empty`.
From the host: `end GRACE`, in seconds. The end of the socket means `end 0`.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator

assert sys.platform != "win32"  # noqa: S101  it is not started there

_CONTROL = 0
_PR_SET_CHILD_SUBREAPER = 36
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTTOU)
_RESTORED = (*_IGNORED, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
_THREADS = 15
"""Place of their number in `/proc/PID/stat`, after the parent."""

_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 1.0


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, where the system can."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  other systems have no use for it

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parents() -> Iterator[tuple[int, int]]:
    """Return every living process and its parent, from `/proc` or else from `ps`."""
    if sys.platform != "linux":
        import subprocess  # noqa: PLC0415  as above

        table = ["ps", "-A", "-o", "pid=,ppid="]
        yield from parse_table(subprocess.check_output(table, text=True).splitlines())  # noqa: S603  fixed
        return
    for name in os.listdir("/proc"):  # noqa: PTH208  pathlib costs more than this program
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123  as above
                    # The name of the program stands in brackets and may hold anything.
                    state, parent, *more = file.read().rpartition(b")")[2].split()
                # With threads left, only its first one has ended: the process lives on.
                if state != b"Z" or int(more[_THREADS]) > 1:
                    yield int(name), int(parent)


def parse_table(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Return process and parent from lines of two numbers."""
    for line in lines:
        pid, parent = line.split()
        yield int(pid), int(parent)


def descendants(root: int, table: Iterable[tuple[int, int]]) -> set[int]:
    """Return the children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in table:
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in found:
                found.add(pid)
                waiting.append(pid)
    return found


def send_all(*signals: signal.Signals) -> set[int]:
    """Send signals to all descendants and return their ids."""
    pids = descendants(os.getpid(), parents())
    for pid in pids:
        for number in signals:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
    return pids


class Supervisor:
    """One command and its descendants, until none is left."""

    def __init__(self, main: int, wake: int) -> None:
        self.main = main
        self.wake = wake
        self.ends_at: float | None = None
        """When the grace is over; None while the command may run."""

        self._pause = _FIRST_PAUSE
        self._poll = select.poll()
        self._poll.register(wake, select.POLLIN)
        self._poll.register(_CONTROL, select.POLLIN)
        if sys.platform == "linux":
            # A fork of the host may hold the other end of the socket for longer than the host.
            with contextlib.suppress(OSError):
                self._poll.register(os.pidfd_open(os.getppid()), select.POLLIN)

    def run(self) -> None:
        """Serve until no descendant is left."""
        while self.reap():
            seconds = None if self.ends_at is None else self.press()
            for fd, _ in self._poll.poll(None if seconds is None else seconds * 1000):
                if fd == self.wake:
                    os.read(fd, 4096)
                else:
                    self.listen(fd)
        say("empty")

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
                say(f"exited {os.waitstatus_to_exitcode(status)}")

    def listen(self, fd: int) -> None:
        """Take an order, or notice that the host is gone."""
        order = b""
        if fd == _CONTROL:
            # A host killed before it read all messages shows as an error, not as an end.
            with contextlib.suppress(OSError):
                order = os.read(fd, 4096)
        if order:
            grace = float(order.split()[1])
            if self.ends_at is None:
                send_all(signal.SIGTERM, signal.SIGCONT)
                self.ends_at = time.monotonic() + grace
            return
        self._poll.unregister(fd)
        self.ends_at = time.monotonic()

    def press(self) -> float:
        """Kill, once the grace is over; return the seconds until the next look."""
        left = (self.ends_at or 0) - time.monotonic()
        if left > 0:
            return left
        seen: set[int] = set()
        while fresh := send_all(signal.SIGSTOP) - seen:
            # Stopped first: a process that forks while the others die would outrun the list.
            seen |= fresh
        send_all(signal.SIGKILL)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return self._pause


def say(line: str) -> None:
    """Tell the host, if it is still there."""
    with contextlib.suppress(OSError):
        os.write(_CONTROL, f"{line}\n".encode())


def ignore(_number: int, _frame: object) -> None:
    """Handle a signal by the byte that wakes the poll, and nothing else."""


def main(stdin: str, argv: list[str]) -> None:
    """Start the command in a session of its own and stay until its whole tree is gone."""
    os.set_inheritable(_CONTROL, False)  # noqa: FBT003  the standard library's own parameter
    wake, notify = os.pipe()
    for fd in (wake, notify):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, ignore)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    try:
        pid = os.posix_spawnp(
            argv[0],
            argv,
            os.environ,
            file_actions=[_input(stdin)],
            setsid=True,
            setsigmask=(),
            setsigdef=_RESTORED,
        )
    except OSError as error:
        say(f"failed {error.errno}")
        os._exit(1)
    if stdin != "-":
        os.close(int(stdin))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (1, 2):
        # The host reads until the last holder of the pipes is gone; that must not be this one.
        os.dup2(null, fd, inheritable=False)
    say(f"started {pid}")
    Supervisor(pid, wake).run()
    os._exit(0)  # at once: the host waits for it, and there is nothing to tidy up


def _input(stdin: str) -> tuple[int, ...] | tuple[int, int, str, int, int]:
    """Return how the command gets its standard input."""
    if stdin == "-":
        return (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    os.set_inheritable(int(stdin), False)  # noqa: FBT003  the standard library's own parameter
    return (os.POSIX_SPAWN_DUP2, int(stdin), 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
