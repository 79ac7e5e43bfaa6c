"""A helper program that ends with its host: run to its end, its output taken whole.

Above: rooms that need the answer of a program of the machine, such as an installer. Below:
`_supervisor.py`, as for commands. It blocks, so it belongs into a thread.
"""

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lineshaft.processes._start import SUPERVISOR
from lineshaft.processes._stray import MARK, end_marked

_END_SECONDS = 2.0


def attended(
    argv: Sequence[str],
    *,
    seconds: float,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program and wait for its end; its whole tree ends with its time, and with the host.

    On Windows, and where Python is a part of another program, it has only its time.

    Args:
        argv: The program and its arguments; no shell. Its standard input is empty.
        seconds: Its time.
        cwd: Its working folder; None: the present one.
        env: All of its variables; None: those of the host.

    Raises:
        OSError: It could not be started.
        subprocess.TimeoutExpired: It took longer.
    """
    variables = dict(os.environ if env is None else env)
    if sys.platform == "win32" or not _can_be_attended():
        return subprocess.run(  # noqa: S603  a list, no shell
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=cwd,
            env=variables,
        )
    mark = secrets.token_hex(16)
    near, far = socket.socketpair()
    with near:
        with far:
            supervisor = subprocess.Popen(  # noqa: S603  a list, no shell
                [sys.executable, "-I", "-S", "-B", str(SUPERVISOR), "-", *argv],
                stdin=far.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env={**variables, MARK: mark},
                start_new_session=True,
            )
        try:
            stdout, stderr = supervisor.communicate(timeout=seconds)
            code = _told(near)
        finally:
            near.close()  # which ends the rest of its tree
            _collect(supervisor, mark)
    return subprocess.CompletedProcess(argv, code, stdout, stderr)


def _can_be_attended() -> bool:
    return hasattr(os, "posix_spawnp") and os.access(sys.executable, os.X_OK)


def _told(near: socket.socket) -> int:
    """Return the exit code that the supervisor reported before it ended."""
    said = b""
    while data := near.recv(4096):
        said += data
    words = dict(line.split(b" ", 1) for line in said.splitlines() if b" " in line)
    if b"failed" in words:
        number = int(words[b"failed"])
        raise OSError(number, os.strerror(number))
    return int(words.get(b"exited", b"-9"))


def _collect(supervisor: "subprocess.Popen[bytes]", mark: str) -> None:
    with supervisor:  # closes its pipes
        with suppress(subprocess.TimeoutExpired):
            supervisor.wait(_END_SECONDS)
        if supervisor.returncode is None:
            supervisor.kill()
            end_marked(mark)
