"""Start a command under its supervisor."""

import errno
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Collection
from io import FileIO
from pathlib import Path

import anyio

from lineshaft.errors import FileMissing, WorkspaceError
from lineshaft.processes._environment import minimal_environment
from lineshaft.processes._running import Running
from lineshaft.processes._stray import MARK
from lineshaft.values import NO_SECRETS, Command, Process, SecretFinder

SUPERVISOR = Path(__file__).with_name("_supervisor.py")


async def start(
    command: Command,
    *,
    cwd: Path,
    allow_env: Collection[str] = (),
    secrets: SecretFinder = NO_SECRETS,
    stdin: int | None = None,
) -> Process:
    """Start a program in a session of its own.

    Time runs from here: after `command.seconds` the whole tree is ended. The rest of the tree is
    ended when the program itself has ended, once its output is drained.

    Args:
        command: The command; its `cwd` is ignored.
        cwd: Its working folder.
        allow_env: Names of more variables to pass on from the host.
        secrets: What is not cut in two where its output is.
        stdin: A descriptor that becomes its standard input, and stays the caller's to close; None:
            its standard input is closed.

    Raises:
        FileMissing: There is no such program.
        WorkspaceError: It could not be started for another reason.
    """
    _check(command)
    running = _launch(command, cwd, allow_env, secrets, stdin)
    try:
        await running.settled.wait()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await running.kill()
        raise
    if running.start_errno is not None:
        await running.kill()
        raise not_started(command.argv[0], running.start_errno)
    return running


def _check(command: Command) -> None:
    if not hasattr(os, "posix_spawnp"):
        message = f"commands cannot be started on {sys.platform}: it has no `posix_spawn`"
        raise WorkspaceError(message, hint="Use the file tools, or a POSIX system.")
    if not command.argv or not command.argv[0]:
        raise WorkspaceError("there is no program to start: the command is empty")
    for text in (*command.argv, *command.env, *command.env.values()):
        if "\0" in text:
            raise WorkspaceError(f"a command cannot hold a NUL character: {text!r}")


def _launch(
    command: Command,
    cwd: Path,
    allow_env: Collection[str],
    known: SecretFinder,
    stdin: int | None,
) -> Running:
    """Start the supervisor, which takes a millisecond or two of the loop's time."""
    mark = secrets.token_hex(16)
    near, far = socket.socketpair()
    near.setblocking(False)  # noqa: FBT003  the standard library's own parameter
    out, out_end = _pipe()
    err, err_end = _pipe()
    given = "-" if stdin is None else str(stdin)
    try:
        supervisor = subprocess.Popen(  # noqa: S603  a list, no shell
            [sys.executable, "-I", "-S", "-B", str(SUPERVISOR), given, *command.argv],
            stdin=far.fileno(),
            stdout=out_end,
            stderr=err_end,
            cwd=cwd,
            env=minimal_environment({**command.env, MARK: mark}, allow=allow_env),
            start_new_session=True,
            pass_fds=() if stdin is None else (stdin,),
        )
    except (OSError, ValueError) as error:
        for end in (near, out, err):
            end.close()
        raise not_launched(command.argv[0], cwd, error) from error
    finally:
        far.close()
        os.close(out_end)
        os.close(err_end)
    return Running(
        command,
        mark=mark,
        supervisor=supervisor,
        control=near,
        stdout=out,
        stderr=err,
        secrets=known,
    )


def _pipe() -> tuple[FileIO, int]:
    read, write = os.pipe()
    if sys.platform != "win32":
        os.set_blocking(read, False)
    return FileIO(read), write


def not_started(program: str, number: int) -> WorkspaceError:
    """Return the error for a program that the system would not start."""
    if number == errno.ENOENT:
        where = "" if "/" in program else " on the PATH"
        return FileMissing(
            f"there is no program {program!r}{where}",
            hint="Check its name; a script's first line may also name a program that is missing.",
        )
    if number == errno.ENOEXEC:
        return WorkspaceError(
            f"{program!r} is not a program",
            hint="Name the interpreter, as in `python FILE`, or give it a `#!` line.",
        )
    return WorkspaceError(f"{program!r} could not be started: {os.strerror(number)}")


def not_launched(program: str, cwd: Path, error: Exception) -> WorkspaceError:
    """Return the error for a supervisor that could not be started."""
    if not isinstance(error, OSError):
        return WorkspaceError(f"{program!r} could not be started: {error}")
    if not cwd.is_dir():
        return FileMissing(f"{program!r} could not be started: its working folder is gone")
    reason = os.strerror(error.errno or 0)
    return WorkspaceError(f"{program!r} could not be started: {reason}")
