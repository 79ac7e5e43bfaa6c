"""Asks the person at the terminal about calls that policy wants approved."""

import os
import re
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import anyio

from lineshaft.cli._display import Display
from lineshaft.cli._shape import brief, counted
from lineshaft.cli._terminal import clean, is_terminal, note, one_line, paint
from lineshaft.values import Answer, Pending

_TTY = "/dev/tty"
HELP = "y: yes, n: no, a: yes to all of these rules for this run, 1 3: only these; then a reason"
_ANSWER = re.compile(r"\s*(?:(y|yes|n|no|a|all)\b|(\d+(?:[ ,]+\d+)*))\s*(.*)", re.IGNORECASE)


def can_ask() -> bool:
    """Return whether a person sits at a terminal of this process."""
    if sys.platform == "win32" or not is_terminal(sys.stderr):
        return False
    if sys.stdin.isatty():
        return True
    try:
        os.close(os.open(_TTY, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


class TerminalApprover:
    """Lists what waits and takes one answer for the list.

    The answer is read from the terminal itself, so that a script on standard input can ask too,
    and only what is typed after the question counts.

    Args:
        display: Makes room for the question.
    """

    def __init__(self, display: Display) -> None:
        self._display = display

    async def __call__(self, pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        """Return the person's answers; none where the terminal has gone."""
        with self._display.aside():
            async with _terminal() as terminal:
                for line in question(pending):
                    note(line)
                while (text := await _line(terminal)) is not None:
                    answers = read_answer(text, pending)
                    if answers is not None:
                        return answers
                    note(HELP)
        return {}


def question(pending: Sequence[Pending]) -> list[str]:
    """Return the lines that show what waits."""
    lines = [paint(f"Waiting for your approval: {counted(len(pending), 'call')}", "yellow")]
    for number, call in enumerate(pending, 1):
        why = f"  ({one_line(call.reason or call.rule)})" if call.reason or call.rule else ""
        lines.append(f" {number}. {paint(one_line(call.tool), 'bold')}{why}")
        for name, value in call.arguments.items():
            text = value if isinstance(value, str) else brief(value)
            lines.append(f"      {one_line(name)}: {_indented(text)}")
    lines.append(f"Allow? [{paint('y/n/a', 'bold')}, ? for help]")
    return lines


def read_answer(text: str, pending: Sequence[Pending]) -> dict[str, Answer] | None:
    """Return the answers that a typed line gives, or None where it is not an answer.

    Args:
        text: As typed: `y`, `n`, `a` or numbers, then a reason if any.
        pending: The calls in the order shown.
    """
    match = _ANSWER.fullmatch(text.strip())
    if match is None:
        return None
    word, numbers, reason = (match[1] or "").lower(), match[2], match[3].strip()
    if numbers:
        chosen = {int(number) for number in re.findall(r"\d+", numbers)}
        if not chosen <= set(range(1, len(pending) + 1)):
            return None
    else:
        chosen = set(range(1, len(pending) + 1)) if word[0] in "ya" else set[int]()
    scope: Literal["call", "run"] = "run" if word.startswith("a") else "call"
    return {
        call.id: Answer(number in chosen, reason=reason, scope=scope)
        for number, call in enumerate(pending, 1)
    }


def _indented(text: str) -> str:
    return clean(text).replace("\n", "\n        ")


@asynccontextmanager
async def _terminal() -> AsyncGenerator[int]:
    own = sys.stdin.isatty()
    terminal = sys.stdin.fileno() if own else os.open(_TTY, os.O_RDWR | os.O_NOCTTY)
    try:
        _forget_typed(terminal)
        yield terminal
    finally:
        if not own:
            os.close(terminal)


def _forget_typed(terminal: int) -> None:
    """Drop what was typed before the question, which cannot be meant as its answer."""
    if sys.platform != "win32":
        import termios  # noqa: PLC0415  only where there is one

        termios.tcflush(terminal, termios.TCIFLUSH)


async def _line(terminal: int) -> str | None:
    data = b""
    while not data.endswith(b"\n"):
        # Waited for in the event loop: a thread that reads could not be called back.
        await anyio.wait_readable(terminal)
        read = os.read(terminal, 4096)
        if not read:
            return None
        data += read
    return data.decode("utf-8", errors="replace")
