"""Programs of Lineshaft in processes of their own, forked from one that has imported it.

A process that starts so is as any other once its program begins; it has imported more than it
needs. Tests of how a process starts, and of signals and terminals, start theirs anew.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

Command = Callable[..., "subprocess.CompletedProcess[str]"]
SERVER = Path(__file__).with_name("server.py")
AT_A_START = ("PYTHON", "LC_", "LANG")
"""How variables begin that Python reads when it starts, and never again."""


class Programs:
    """Runs programs.

    Args:
        path: The socket that orders are taken at.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def run(
        self,
        *argv: str,
        cwd: Path,
        env: Mapping[str, str],
        data: bytes = b"",
        session: bool = False,
        seconds: float = 300,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a program to its end.

        Args:
            argv: `-m` and a module, or an empty text and a file; then the program's arguments.
            cwd: Where it starts.
            env: All its variables.
            data: What it reads.
            session: It leads a session of its own.
            seconds: It is killed then.
        """
        changed = {name for name, _ in env.items() - os.environ.items()} - {"PYTHONPATH"}
        if any(name.startswith(AT_A_START) for name in changed):
            words = [sys.executable, *(each for each in argv if each)]
            return subprocess.run(
                words,
                cwd=cwd,
                env=env,
                input=data,
                capture_output=True,
                start_new_session=session,
                timeout=seconds,
                check=False,
            )
        pipes = [os.pipe() for _ in range(3)]
        (input_, to_input), (output, to_output), (errors, to_errors) = pipes
        order = {"argv": argv, "cwd": str(cwd), "env": dict(env), "session": session}
        with _ordered(self._path, order, (input_, to_output, to_errors)) as answers:
            told = _Copied(output), _Copied(errors)
            threading.Thread(target=_write, args=(to_input, data), daemon=True).start()
            pid = int(answers.readline())
            overdue = threading.Timer(seconds, os.kill, (pid, 9))
            overdue.start()
            code = int(answers.readline())
            overdue.cancel()
        return subprocess.CompletedProcess(argv, code, *(each.text() for each in told))

    def lineshaft(
        self, *words: str, cwd: Path, env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Carry out a command line to its end.

        Args:
            words: What stands after the program's name.
            cwd: Where it starts.
            env: All its variables; None: those of this process.
        """
        done = self.run("-m", "lineshaft", *words, cwd=cwd, env=os.environ if env is None else env)
        texts = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(words, done.returncode, *texts)


class _Copied:
    """Reads a descriptor to its end, beside whoever made it."""

    def __init__(self, descriptor: int) -> None:
        self._text = b""
        self._thread = threading.Thread(target=self._read, args=(descriptor,), daemon=True)
        self._thread.start()

    def text(self) -> bytes:
        """Return all that came, once it has ended."""
        self._thread.join()
        return self._text

    def _read(self, descriptor: int) -> None:
        with open(descriptor, "rb") as stream:
            self._text = stream.read()


def _write(descriptor: int, data: bytes) -> None:
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
    except BrokenPipeError:  # it does not read all
        pass


@contextmanager
def _ordered(
    path: str, order: Mapping[str, object], streams: Sequence[int]
) -> Generator["socket.SocketIO"]:
    """Send an order, and give what is answered; the streams are the program's alone then."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(path)
        text = f"{json.dumps(order)}\n".encode()
        sent = socket.send_fds(asking, [text], list(streams))
        if rest := text[sent:]:  # to send nothing fails where the program has ended by now
            asking.sendall(rest)
        for stream in streams:
            os.close(stream)
        with asking.makefile("rb", buffering=0) as answers:
            yield answers


@contextmanager
def forked_programs() -> Generator[Programs]:
    """Start what programs are forked from."""
    settings = os.environ.get("COVERAGE_PROCESS_START")
    env = {name: each for name, each in os.environ.items() if name != "COVERAGE_PROCESS_START"}
    with tempfile.TemporaryDirectory(prefix="ls-") as folder:
        path = f"{folder}/socket"
        command = [sys.executable, str(SERVER), path, *([settings] if settings else [])]
        with subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield Programs(path)
