"""A running `ty server`: a process, the threads at its pipes, and its end with its host."""

import contextlib
import errno
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, cast

Message = Mapping[str, Any]

_LONGEST_MESSAGE = 64_000_000
_CHUNK_BYTES = 65_536
_DATA_BYTES = 3_000_000_000
_REAP_SECONDS = 5.0


class Server:
    """One process of the language server; never started again once it has ended.

    Args:
        folder: Its working folder, the only one that it knows.
        heard: Called with each message, and with None once there is no further one; in a thread
            of the server.

    Raises:
        OSError: It cannot be started, or is not installed.
    """

    def __init__(self, folder: Path, heard: "Callable[[Server, Message | None], None]") -> None:
        self._heard = heard
        self._outbox = SimpleQueue[bytes | None]()
        tie = _pipe_of_host()
        try:
            self._process = _start(folder, tie)
        except BaseException:
            for end in tie or ():
                os.close(end)
            raise
        self._tie = None if tie is None else _tied(self._process.pid, *tie)
        try:
            for work in (self._write, self._read):
                # A thread that waits for a pipe must not keep the program from ending.
                threading.Thread(target=work, name="lineshaft-checker", daemon=True).start()
        except RuntimeError as error:
            self.close()
            self._close_pipes()
            raise OSError(errno.EAGAIN, str(error)) from error

    def send(self, message: Message) -> None:
        """Send a message; never waits."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._outbox.put(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def kill(self) -> None:
        """End it at once, from any thread."""
        self._process.kill()

    def close(self) -> None:
        """End it and wait until it has ended."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_SECONDS)
        self._outbox.put(None)
        self._untie()

    def abandon(self) -> None:
        """Let go of it in a forked child; it belongs to the parent."""
        self._process.returncode = 0
        self._close_pipes()
        self._untie()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            cast("IO[bytes]", pipe).close()

    def _untie(self) -> None:
        if self._tie is not None:
            os.close(self._tie)
            self._tie = None

    def _write(self) -> None:
        with cast("IO[bytes]", self._process.stdin) as stdin, contextlib.suppress(OSError):
            while (data := self._outbox.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[stdin.write(rest) :]

    def _read(self) -> None:
        stdout = cast("IO[bytes]", self._process.stdout)
        with stdout, contextlib.suppress(OSError, ValueError, TypeError):
            for message in _messages(stdout):
                self._heard(self, message)
        self.kill()  # it may live, and have sent an invalid message
        self._heard(self, None)


def _start(folder: Path, tie: tuple[int, int] | None) -> "subprocess.Popen[bytes]":
    ty = importlib.import_module("ty")
    places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "APPDATA", "TMPDIR"), str(folder))
    kept = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    # A process group of its own: an interrupt at the terminal is the host's to handle, and where
    # a stopped member of it loses the host, the kernel hangs it up.
    process = subprocess.Popen(  # noqa: S603  a program of a package that this one requires
        [ty.find_ty_bin(), "server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=folder,
        env={**places, **kept},  # of the host's own: its packages and settings are not the script's
        pass_fds=() if tie is None else tie[:1],
        process_group=None if sys.platform == "win32" else 0,
    )
    _bound(process.pid)
    return process


def _bound(pid: int) -> None:
    """Bound the resources that a hostile script can make the server use."""
    if sys.platform == "linux":
        resource = importlib.import_module("resource")
        with contextlib.suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
            resource.prlimit(pid, resource.RLIMIT_DATA, (_DATA_BYTES, _DATA_BYTES))


def _pipe_of_host() -> tuple[int, int] | None:
    """Return a pipe whose ends the server and this process hold, where the kernel watches it."""
    return os.pipe() if sys.platform == "linux" else None


def _tied(pid: int, end: int, own: int) -> int:
    """Have the kernel kill the server once this process's end of a pipe is gone.

    The end of its input alone would not do: it finishes the checks under way first, and those
    of a hostile script may take minutes.
    """
    if sys.platform == "linux":
        fcntl = importlib.import_module("fcntl")
        with contextlib.suppress(OSError):
            fcntl.fcntl(end, fcntl.F_SETOWN, pid)
            fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    os.close(end)
    return own


def _messages(stdout: IO[bytes]) -> Iterator[Message]:
    """Yield messages to the end of a pipe.

    Raises:
        ValueError, TypeError: The text is no message.
    """
    inbox = bytearray()
    while data := stdout.read(_CHUNK_BYTES):
        inbox += data
        while (end := inbox.find(b"\r\n\r\n")) >= 0:
            length = _length(bytes(inbox[:end]))
            start = end + 4
            while len(inbox) < start + length and (data := stdout.read(_CHUNK_BYTES)):
                inbox += data
            yield cast("Message", dict(json.loads(inbox[start : start + length])))
            del inbox[: start + length]


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and 0 < int(value) <= _LONGEST_MESSAGE:
            return int(value)
    raise ValueError("a message has a length, within bounds")
