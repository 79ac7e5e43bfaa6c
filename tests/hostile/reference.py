"""Plain Python, without a boundary: what a hostile script gets its way with there."""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from hostile.cases import Case
from hostile.child import ENDED
from hostile.target import Target, end_group, started

CHILD = Path(__file__).parent / "child.py"
SECONDS = 2.5
SPINNING = 1.2
"""A script that does not end is given less."""

FLOODING = 60.0
"""A script that floods is ended as soon as it has; on a busy machine that takes its time."""

MEMORY = 400_000_000
FLOOD = 8_000_000
EATEN = 100_000_000
NOBODY = 65534
TOKEN = "HOSTILE_CHILD"  # noqa: S105  the name of a variable


@dataclass
class Seen:
    """How a script went on plain Python."""

    value: Any = None
    output: bytes = b""
    on_descriptor: bytes = b""
    """What came by a descriptor that it was not told of."""

    calls: list[str] = field(default_factory=list[str])
    ended: bool = False
    """It came to its end by itself."""

    killed: bool = False
    proper: bool = False
    """With a value, and an exit code of 0."""

    memory: int = 0
    out_of_memory: bool = False


def shows(case: Case, target: Target) -> bool:
    """Run a case on plain Python and return whether what it is after can be seen."""
    seen = run(case, target)
    text = seen.output.decode("utf-8", "replace")
    found = {
        "tells": lambda: target.told(seen.value, text),
        "writes": target.written,
        "connects": target.heard,
        "signals": target.hurt,
        "outlives": lambda: bool(target.left(case.id)),
        "spins": lambda: seen.killed,
        "eats": lambda: seen.memory > EATEN or seen.out_of_memory,
        "floods": lambda: len(seen.output) >= FLOOD,
        "breaks": lambda: not seen.proper,
        "forges": lambda: any(b"FORGED" in data for data in (seen.output, seen.on_descriptor)),
        "calls": lambda: _is_late(seen.calls),
    }[case.sign]()
    target.left(case.id)
    _end_all(case)
    return found


def run(case: Case, target: Target) -> Seen:
    """Run a case in a process of its own, with strict limits."""
    place = target.folder / f"scratch-{case.id}"
    place.mkdir()
    place.chmod(0o777)
    job = {
        "source": case.script,
        "inputs": target.inputs(case.id),
        "calls": str(place / "calls"),
        "value": str(place / "value"),
        "limits": _limits(case),
        "user": NOBODY if case.group == "forks" and os.geteuid() == 0 else None,
    }
    mine, theirs = socket.socketpair()
    with mine, theirs:
        process = _start(case, place, descriptor=theirs.fileno(), held=target.open_fd)
        theirs.close()
        seen = _watch(process, job, case)
        mine.setblocking(False)
        with suppress(BlockingIOError):
            seen.on_descriptor = mine.recv(100_000)
    if (place / "calls").exists():
        seen.calls = (place / "calls").read_text(encoding="utf-8").splitlines()
    try:
        seen.value = json.loads((place / "value").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        seen.proper = False
    return seen


def _limits(case: Case) -> dict[str, int]:
    limits = {
        "AS": MEMORY,
        "CPU": 1 if case.sign == "spins" else 2,
        "FSIZE": 20_000_000,
        "CORE": 0,
        "NOFILE": 256,
    }
    if case.group == "forks":
        limits["NPROC"] = 300
    return limits


def _start(case: Case, place: Path, *, descriptor: int, held: int) -> "subprocess.Popen[bytes]":
    return started(
        [sys.executable, "-I", "-S", str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=place,
        env={**os.environ, TOKEN: case.id},
        pass_fds=(descriptor, held),
        start_new_session=True,
    )


def _watch(process: "subprocess.Popen[bytes]", job: dict[str, Any], case: Case) -> Seen:
    seen = Seen()
    assert process.stdin is not None
    process.stdin.write(json.dumps(job).encode())
    process.stdin.close()
    reader = threading.Thread(target=_read, args=(process, seen))
    reader.start()
    seconds = {"spins": SPINNING, "floods": FLOODING}.get(case.sign, SECONDS)
    until = time.monotonic() + seconds
    while time.monotonic() < until and len(seen.output) < FLOOD:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            _note_end(seen, process, status=status, used=used)
            break
        time.sleep(0.01)
    if case.sign == "calls":
        _await_call(Path(job["calls"]))
    if case.sign != "outlives":
        _end_all(case)
    if not seen.ended:
        end_group(process)
        _, status, used = os.wait4(process.pid, 0)
        _note_end(seen, process, status=status, used=used)
        seen.killed, seen.proper = True, False
    if case.sign != "outlives":
        reader.join(2)
    seen.out_of_memory = b"MemoryError" in seen.output
    return seen


def _note_end(
    seen: Seen, process: "subprocess.Popen[bytes]", *, status: int, used: resource.struct_rusage
) -> None:
    process.returncode = os.waitstatus_to_exitcode(status)
    seen.ended = True
    seen.killed = process.returncode in (-9, -24)
    seen.proper = process.returncode == 0
    seen.memory = used.ru_maxrss * 1024


def _read(process: "subprocess.Popen[bytes]", seen: Seen) -> None:
    assert process.stdout is not None
    with process.stdout:
        while len(seen.output) < FLOOD and (data := os.read(process.stdout.fileno(), 100_000)):
            seen.output += data


def _await_call(calls: Path) -> None:
    """Give a call that comes late the time to come."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if calls.exists() and _is_late(calls.read_text(encoding="utf-8").splitlines()):
            return
        time.sleep(0.02)


def _is_late(calls: list[str]) -> bool:
    return ENDED in calls and "LATE" in calls[calls.index(ENDED) :]


def _end_all(case: Case) -> None:
    """End every process that carries the case's mark in its environment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get(TOKEN) == case.id:
                process.kill()
        except psutil.Error:
            pass
