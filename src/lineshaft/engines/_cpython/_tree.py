"""The processes of a run, as the host sees them: killed from here, whatever they did inside."""

import os
import signal
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")


def kill_group(pid: int) -> None:
    """Kill a process and its group. Its id must not have been given to another yet."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _send(pid, signal.SIGKILL)


def children(pid: int, known: Collection[int | None]) -> set[int]:
    """Return the living children of a process, without those that are known.

    Quick, but children that end at the same moment may hide others: a hint, no proof.
    """
    try:
        listed = (_PROC / f"{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:  # the kernel was built without it
        return {child for child, parent in _everybody() if parent == pid} - {*known}
    except OSError:
        return set()
    return {child for child in map(int, listed.split()) if child not in known and not _dead(child)}


def is_alone(pid: int) -> bool:
    """Return whether a process that was killed, and is not dead yet, leaves nobody behind.

    It can start nothing more. With one thread left, all its children are listed as that one's,
    and they stay with it until it is dead; so an empty list that was read before that is a proof.
    """
    try:
        if os.listdir(f"/proc/{pid}/task") != [str(pid)]:  # noqa: PTH208  twice as slow
            return False
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as listed:  # noqa: PTH123  twice as slow
            return not listed.read(1) and not _dead(pid)
    except OSError:
        return False


def descendants(pid: int, known: Collection[int | None]) -> set[int]:
    """Return all that live below a process, but for those that are known and all below them."""
    below: dict[int, list[int]] = {}
    for child, parent in _everybody():
        below.setdefault(parent, []).append(child)
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        fresh = [child for child in below.get(waiting.pop(), ()) if child not in known]
        found.update(fresh)
        waiting.extend(fresh)
    return found


def end_all(find: Callable[[], set[int]]) -> bool:
    """Kill whatever is found; return whether there was anything."""
    seen: set[int] = set()
    while fresh := find() - seen:
        # Stopped first: whoever forks while the others die would outrun the list.
        for pid in fresh:
            _send(pid, signal.SIGSTOP)
        seen |= fresh
    for pid in seen:
        _send(pid, signal.SIGKILL)
    return bool(seen)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def inner_pid(pid: int) -> int:
    """Return a process's id as it sees it itself."""
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / f"{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    return pid


def address_space(pid: int) -> int:
    """Return the bytes of address space that a process has."""
    with suppress(OSError, ValueError):
        return int((_PROC / f"{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _everybody() -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            state, parent = _stat(int(folder.name))
            if state not in ("Z", "X"):
                found.append((int(folder.name), parent))
    return found


def _dead(pid: int) -> bool:
    return _stat(pid)[0] in ("Z", "X")


def _stat(pid: int) -> tuple[str, int]:
    """Return a process's state and its parent."""
    try:
        text = (_PROC / f"{pid}/stat").read_text(errors="replace")
    except OSError:
        return "X", 0
    # The name of the program stands in brackets and may hold anything.
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, int(parent)
