"""What hostile scripts are after: secrets, files, listeners and a neighbour of a test's own.

Everything in it is harmless and belongs to the test that made it.
"""

import errno
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

_NEIGHBOUR = "import os, sys, time; print(os.open(sys.argv[2], 0), flush=True); time.sleep(600)"
_BEGINNING = 80


def _secret(kind: str) -> str:
    return f"TOLD-{kind}-{secrets.token_hex(6)}"


class Target:
    """Secrets by every road; use it as a context manager."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        self.folder.chmod(0o755)
        named = [_secret(kind) for kind in ("file", "name", "env", "argument", "cwd", "open")]
        self._file, name, environment, self._argument, place, opened = named
        self._secrets = [*named, _beginning_of_environment()]
        vault = self._make_folder("vault")
        self.secret_path = vault / "secret.py"
        self.secret_path.write_text(f"{self._file} ?\n", encoding="utf-8")  # no Python
        (vault / name).touch()
        self._held = vault / opened
        self._held.write_text(opened, encoding="utf-8")
        self._place = self._make_folder(place)
        self.marker = f"HOSTILE_{secrets.token_hex(4)}"
        os.environ[self.marker] = environment
        self.open_fd = os.open(self._held, os.O_RDONLY)
        os.set_inheritable(self.open_fd, True)
        self._listener = Listener(self.folder)
        self._neighbour = self._meet()
        self._mark = 1_000 + secrets.randbelow(700_000)
        self._count = 0

    def __enter__(self) -> "Target":
        return self

    def __exit__(self, *problem: object) -> None:
        self._neighbour.kill()
        self._neighbour.wait()
        self._listener.close()
        os.close(self.open_fd)
        del os.environ[self.marker]
        shutil.rmtree(self.folder)

    def inputs(self, case: str) -> dict[str, Any]:
        """Return what a script is told, with things of its own to spoil."""
        self._count += 1
        outside = self._make_folder(f"outside-{self._count}", mode=0o777)
        (outside / "precious.txt").write_text("precious", encoding="utf-8")
        (outside / "precious.txt").chmod(0o644)
        (outside / "tree").mkdir()
        (outside / "tree" / "leaf.txt").write_text("leaf", encoding="utf-8")
        if self._neighbour.poll() is not None or self._state() != self._calm:
            self._neighbour.kill()
            self._neighbour.wait()
            self._neighbour = self._meet()
        self._heard = self._listener.heard
        self._before = _snapshot(outside)
        self._outside = outside
        self._since = time.time()
        return {
            "case": self._own(case),
            "mark": self._mark,
            "marker": self.marker,
            "secret_path": str(self.secret_path),
            "outside": str(outside),
            "port": self._listener.port,
            "udp_port": self._listener.udp_port,
            "unix_path": str(self._listener.path),
            "abstract": self._listener.abstract,
            "neighbour": self._neighbour.pid,
            "neighbour_fd": self._neighbour_fd,
            "host": os.getpid(),
            "open_fd": self.open_fd,
        }

    def told(self, *said: object) -> bool:
        """Return whether a secret is in what a script said."""
        texts = [text for each in said for text in _texts(each)]
        return any(secret in text for secret in self._secrets for text in texts)

    def written(self) -> bool:
        """Return whether a file of the script's outside is another."""
        return _snapshot(self._outside) != self._before

    def heard(self) -> bool:
        """Return whether somebody connected."""
        self._listener.settle()
        return self._listener.heard > self._heard

    def hurt(self) -> bool:
        """Return whether the neighbour is another."""
        with suppress(subprocess.TimeoutExpired):
            self._neighbour.wait(0.05)  # a signal takes a moment
        return self._neighbour.poll() is not None or self._state() != self._calm

    def left(self, case: str) -> list[int]:
        """Return the processes that a script left, and end them."""
        found = [p for p in psutil.process_iter() if self._stayed(p, f"STAY-{self._own(case)}")]
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        return [process.pid for process in found]

    def _own(self, case: str) -> str:
        """Return a name that no other target's run of a case has."""
        return f"{case}-{self._mark}"

    def _stayed(self, process: psutil.Process, mark: str) -> bool:
        try:
            if process.create_time() < self._since - 1 or process.status() == psutil.STATUS_ZOMBIE:
                return False
            if any(mark in part for part in process.cmdline()):
                return True
            limits = Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
            return f"msgqueue size {self._mark} {self._mark} " in " ".join(limits.split())
        except (psutil.Error, OSError):
            return False

    def _make_folder(self, name: str, *, mode: int = 0o755) -> Path:
        path = self.folder / name
        path.mkdir()
        path.chmod(mode)
        return path

    def _meet(self) -> "subprocess.Popen[str]":
        process = started(
            [sys.executable, "-I", "-S", "-c", _NEIGHBOUR, self._argument, str(self._held)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._place,
            start_new_session=True,
        )
        assert process.stdout is not None
        self._neighbour_fd = int(process.stdout.readline())
        process.stdout.close()
        self._neighbour = process
        self._calm = self._state()
        return process

    def _state(self) -> object:
        process = psutil.Process(self._neighbour.pid)
        stopped = process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
        limits = [process.rlimit(kind) for kind in (psutil.RLIMIT_CPU, psutil.RLIMIT_NOFILE)]
        score = Path(f"/proc/{process.pid}/oom_score_adj").read_text(encoding="ascii")
        return stopped, process.nice(), limits, score


class Listener:
    """Counts whoever comes by TCP, UDP or a path."""

    def __init__(self, folder: Path) -> None:
        self.heard = 0
        self.path = folder / "listener.sock"
        self.abstract = f"hostile-{secrets.token_hex(6)}"
        tcp = socket.create_server(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        local, named = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        local.bind(str(self.path))
        self.path.chmod(0o777)
        named.bind(f"\0{self.abstract}")
        for server in (local, named):
            server.listen()
        self.port, self.udp_port = tcp.getsockname()[1], udp.getsockname()[1]
        self._servers = [tcp, local, named]
        self._sockets = [*self._servers, udp]
        self._ending = False
        self._turns = threading.Condition()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def settle(self) -> None:
        """Wait until everything that came so far is counted."""
        with self._turns:
            self._turns.wait(0.2)
            self._turns.wait(0.2)

    def close(self) -> None:
        """Hear nobody any more."""
        self._ending = True
        self._thread.join()
        for each in self._sockets:
            each.close()

    def _listen(self) -> None:
        while not self._ending:
            ready, _, _ = select.select(self._sockets, [], [], 0.05)
            for each in ready:
                if each in self._servers:
                    each.accept()[0].close()
                else:
                    each.recv(100)
                self.heard += 1
            with self._turns:
                self._turns.notify_all()


def _beginning_of_environment() -> str:
    """Return how the environment of this process began, as others could read it."""
    return Path("/proc/self/environ").read_bytes()[:_BEGINNING].decode("utf-8", "replace")


def _snapshot(folder: Path) -> dict[str, object]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_size, path.lstat().st_nlink)
        for path in sorted(folder.rglob("*"))
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType]  any data
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:  # pyright: ignore[reportUnknownVariableType]  any data
            yield from _texts(item)


def started(command: Sequence[str], **settings: Any) -> "subprocess.Popen[Any]":
    """Start a process; settings as those of `Popen`.

    On a virtual machine `execve` once gave EFAULT for arguments that were right, in three test runs
    out of three, where several threads start processes: that is tried again.
    """
    for _ in range(4):
        try:
            return subprocess.Popen(command, **settings)
        except OSError as error:
            if error.errno != errno.EFAULT:
                raise
    return subprocess.Popen(command, **settings)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process of one's own and those of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
