"""Targets of the attacks: a file, a process, sockets, shared memory, a key, made for one probe."""

import contextlib
import ctypes
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lineshaft.sandbox.bundle import Interpreter
from lineshaft.sandbox.jail._spec import SandboxSpec

_VICTIM = """
import ctypes, sys
block = ctypes.create_string_buffer(b"lineshaft")
print(ctypes.addressof(block), flush=True)
sys.stdin.read()  # until whoever started it has died
"""
_SYSCALLS = {"x86_64": (248, 250), "aarch64": (217, 219)}
_USER_KEYRING = -4
_KEY_UNLINK = 9
_SHM_REMOVE = 0


@contextmanager
def targets(spec: SandboxSpec, interpreter: Interpreter) -> Generator[dict[str, str]]:
    """Set everything up, and take it away afterwards."""
    mark = secrets.token_hex(8)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lineshaft-probe-")))
        folder.chmod(0o755)
        found = _files(folder, mark, stack)
        found |= _victim(mark, stack, interpreter)
        found |= _sockets(folder, mark, stack)
        found |= _memory(mark, stack)
        found |= {"mark": mark, "host": str(os.getpid())}
        found["bundle_file"] = str(interpreter.executable)
        for name in ("processes", "memory_mb", "file_mb", "open_files", "cpu_seconds"):
            found[name] = str(getattr(spec, name))
        yield found


def fresh(found: dict[str, str]) -> None:
    """Put back the targets that an earlier round of attacks removed."""
    for name in ("spare", "doomed"):
        path = Path(found[name])
        path.write_text("x" * 100, encoding="ascii")
        path.chmod(0o644)
    Path(found["doomed"] + ".moved").unlink(missing_ok=True)
    Path(found["folder"], "made").unlink(missing_ok=True)
    Path(found["near"]).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        Path(found["folder"], "made-folder").rmdir()


def _files(folder: Path, mark: str, stack: ExitStack) -> dict[str, str]:
    secret = folder / "secret"
    secret.write_text(mark, encoding="ascii")
    fd = os.open(secret, os.O_RDONLY)
    os.set_inheritable(fd, True)  # noqa: FBT003  the standard library's own parameter
    stack.callback(os.close, fd)
    return {
        "folder": str(folder),
        "secret": str(secret),
        "spare": str(folder / "spare"),
        "doomed": str(folder / "doomed"),
        "near": str(folder / "near"),
    }


def _victim(mark: str, stack: ExitStack, interpreter: Interpreter) -> dict[str, str]:
    victim = subprocess.Popen(  # noqa: S603  our own program
        [str(interpreter.executable), "-I", "-S", "-c", _VICTIM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"LINESHAFT_PROBE": mark},
        start_new_session=True,
        text=True,
    )
    stack.enter_context(victim)
    stack.callback(victim.kill)
    address = "" if victim.stdout is None else victim.stdout.readline().strip()
    return {"victim": str(victim.pid), "address": address or "0"}


def _sockets(folder: Path, mark: str, stack: ExitStack) -> dict[str, str]:
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    found = {"tcp": str(tcp.getsockname()[1]), "tcp6": "0"}
    with contextlib.suppress(OSError):
        tcp6 = stack.enter_context(socket.create_server(("::1", 0), family=socket.AF_INET6))
        found["tcp6"] = str(tcp6.getsockname()[1])
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    stack.callback(_echo(udp))
    if sys.platform != "win32":
        for name, kind in ((str(folder / "sock"), 1), (f"\0{mark}", 1), (f"\0{mark}d", 2)):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            listener.bind(name)
            if kind == socket.SOCK_STREAM:
                listener.listen(64)
    return found | {
        "udp": str(udp.getsockname()[1]),
        "unix": str(folder / "sock"),
        "abstract": mark,
    }


def _echo(udp: socket.socket) -> Callable[[], None]:
    """Answer datagrams until the returned function is called."""
    stop, stopping = os.pipe()

    def serve() -> None:
        while stop not in select.select([udp, stop], [], [])[0]:
            data, sender = udp.recvfrom(10)
            udp.sendto(data, sender)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def end() -> None:
        os.write(stopping, b"x")
        thread.join()
        os.close(stop)
        os.close(stopping)

    return end


def _memory(mark: str, stack: ExitStack) -> dict[str, str]:
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(0, 4096, 0o1666)
    stack.callback(libc.shmctl, segment, _SHM_REMOVE, None)
    posix = Path("/dev/shm") / f"lineshaft-{mark}"  # noqa: S108  named at random, and ours
    with contextlib.suppress(OSError):
        posix.write_text(mark, encoding="ascii")
        stack.callback(posix.unlink)
    if sys.platform == "linux" and (calls := _SYSCALLS.get(os.uname().machine)):
        add, control = calls
        key = libc.syscall(add, b"user", mark.encode(), mark.encode(), len(mark), _USER_KEYRING)
        stack.callback(libc.syscall, control, _KEY_UNLINK, key, _USER_KEYRING)
    return {"shm": str(segment), "posix_shm": str(posix), "keyring": str(_USER_KEYRING)}
