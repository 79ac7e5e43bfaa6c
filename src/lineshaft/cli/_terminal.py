"""Output: results on standard output, all else on standard error.

Text of scripts and tools may hold anything. On a terminal, control and escape characters are
shown as escapes, so that they can neither move the cursor nor forge a prompt; a pipe gets the
text as it is.
"""

import os
import re
import sys
import unicodedata
from io import TextIOWrapper
from pathlib import Path
from typing import Literal, TextIO

from lineshaft.errors import LineshaftError

Colour = Literal["red", "green", "yellow", "bold", "dim"]

_CODES: dict[Colour, str] = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "bold": "1",
    "dim": "2",
}
_COLOURED = re.compile("(\x1b\\[[0-9]*m)")
_INDENT = " " * 8
_KEPT = "\t\xa0\u3000\ufe0f"
"""Spaces that take their room in some languages, and what gives an emoji its colours."""


def clean(text: str) -> str:
    """Return a text that is safe to show: what is not to be seen in it becomes an escape."""
    from lineshaft.values import visible  # noqa: PLC0415  `--help` prints no such text

    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(visible(line, keep=_KEPT) for line in lines)


def one_line(text: str, width: int = 200) -> str:
    """Return a text on one line in which all is to be seen, cut to a width."""
    from lineshaft.values import one_line  # noqa: PLC0415  `--help` prints no such line

    return one_line(text, width)


def wrapped(line: str, width: int | None = None) -> str:
    """Return a line as lines of a terminal's width, all but the first indented.

    So no text, however long, begins a line as lines of ours do.

    Args:
        line: A safe text, colours and line breaks in it.
        width: Columns; those of the terminal on standard error if none is given.
    """
    if width is None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns
        except (OSError, ValueError):
            return line
    if width <= 2 * len(_INDENT):
        return line
    return "\n".join(_broken(each, width) for each in line.split("\n"))


def _broken(line: str, width: int) -> str:
    pieces: list[str] = []
    room = width
    for part in _COLOURED.split(line):
        if part.startswith("\x1b"):
            pieces.append(part)
            continue
        for char in part:
            columns = _columns(char)
            if columns > room:
                pieces.append(f"\n{_INDENT}")
                room = width - len(_INDENT)
            pieces.append(char)
            room -= columns
    return "".join(pieces)


def _columns(char: str) -> int:
    if char == "\t":
        return 8
    return 2 if unicodedata.east_asian_width(char) in "WFA" else 1


def can_draw(stream: TextIO) -> bool:
    """Return whether the stream is a terminal that can draw; one that cannot is asked on, too."""
    return stream.isatty() and os.environ.get("TERM", "") != "dumb"


def has_colour(stream: TextIO) -> bool:
    """Return whether colour is wanted there: a terminal, and `NO_COLOR` is not set."""
    return can_draw(stream) and not os.environ.get("NO_COLOR")


def paint(text: str, colour: Colour, *, stream: TextIO | None = None) -> str:
    """Return the text in a colour, where the stream has colour; standard error if none given."""
    if not has_colour(stream or sys.stderr):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def prepare_streams() -> None:
    """Make both streams take any text: what cannot be encoded is shown as an escape.

    A stream that the parent closed becomes an empty one.
    """
    sys.stdin = sys.stdin or Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115  for good
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  for good
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def result(text: str) -> None:
    """Print a result of scripts or tools on standard output.

    A line break is added where it lacks one. Where the reader is gone, the text is dropped.
    """
    if not text:
        return
    safe = clean(text) if sys.stdout.isatty() else text
    _write(sys.stdout, safe if safe.endswith("\n") else safe + "\n")


def pass_on(text: str, stream: TextIO) -> None:
    """Print a program's output, unchanged unless it goes to a terminal."""
    _write(stream, clean(text) if stream.isatty() else text)


def say(text: str) -> None:
    """Print a line of our own on standard output; the text is already safe."""
    _write(sys.stdout, text + "\n")


def note(text: str) -> None:
    """Print a line for the person on standard error; the text is already safe.

    Where it cannot be written, it is dropped, and so is all that follows it.
    """
    _write(sys.stderr, text + "\n")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is not sys.stderr and not isinstance(error, BrokenPipeError):
            raise LineshaftError(f"the output cannot be written: {error.strerror}") from error
        # No one reads it. What the command does goes on, and its exit code stays true.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
