"""The end of a program: its exit code and its lines."""

from collections import deque
from typing import TYPE_CHECKING

from lineshaft.values import Exit, Line, Struct

if TYPE_CHECKING:
    from lineshaft.processes.programs.command import ProgramOptions


class ProgramResult(Struct, frozen=True, kw_only=True):
    """How a program ended; an exit code other than 0 is a result."""

    argv: tuple[str, ...]
    """The program and its arguments."""

    exit_code: int
    """The real one; minus the signal's number where a signal ended it."""

    lines: tuple[Line, ...]
    """Lines of both streams in the order in which they came, each with its stream; of long output
    the first and the last."""

    lines_left_out: int
    """How many lines are missing in the middle of `lines`."""

    stdout: str
    """Its output, of which the middle is left out where it is long."""

    stderr: str
    """Its errors, in the same way."""

    stdout_truncated: bool
    """Whether something of its output is left out."""

    stderr_truncated: bool
    """Whether something of its errors is left out."""

    duration_ms: float
    """From its start to its end."""

    @property
    def output(self) -> str:
        """Lines of both streams as one text."""
        return "\n".join(line.text for line in self.lines)


class KeptLines:
    """The first and the last lines of a program, in bounded memory.

    Args:
        characters: How many to keep in all; two fifths at the beginning.
    """

    def __init__(self, characters: int) -> None:
        self._head_room = characters * 2 // 5
        self._tail_room = characters - self._head_room
        self._head: list[Line] = []
        self._tail: deque[Line] = deque()
        self._is_head_full = False
        self.left_out = 0

    def add(self, line: Line) -> None:
        """Add the next line."""
        size = len(line.text) + 1
        if not self._is_head_full and size <= self._head_room:
            self._head_room -= size
            self._head.append(line)
            return
        self._is_head_full = True
        self._tail.append(line)
        self._tail_room -= size
        while self._tail_room < 0 and len(self._tail) > 1:
            self._tail_room += len(self._tail.popleft().text) + 1
            self.left_out += 1

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are kept."""
        return (*self._head, *self._tail)


def result_of(options: "ProgramOptions", done: Exit, kept: KeptLines) -> ProgramResult:
    """Return what is said of a program that has ended."""
    return ProgramResult(
        argv=options.argv,
        exit_code=done.exit_code,
        lines=kept.lines,
        lines_left_out=kept.left_out,
        stdout=done.stdout,
        stderr=done.stderr,
        stdout_truncated=done.stdout_truncated,
        stderr_truncated=done.stderr_truncated,
        duration_ms=done.duration_ms,
    )


def tagged(options: "ProgramOptions", line: Line) -> str:
    """Return a line of a program as a log shows it: `[tsp stderr] ...`."""
    return f"[{options.label} {line.stream}] {line.text}"
