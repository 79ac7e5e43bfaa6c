"""A person at a real (pseudo) terminal, who reads and types."""

import os
import re
import select
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(2, termios.TIOCSCTTY, 0);"
    "os.execv(sys.executable, [sys.executable, '-m', 'lineshaft', *sys.argv[1:]])"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CURSOR_HIDDEN, CURSOR_SHOWN = "\x1b[?25l", "\x1b[?25h"
SECONDS = 60
"""No test waits so long, unless something is broken."""


class Person:
    """Reads what a terminal shows and types into it."""

    def __init__(self, terminal: int, process: "subprocess.Popen[bytes]") -> None:
        self._terminal = terminal
        self.process = process
        self.seen = ""

    def read_until(self, text: str) -> str:
        """Read until the text has been shown; return all that was shown so far."""
        while text not in self.seen:
            more = self._read()
            assert more, f"{text!r} never came; there was: {self.seen}"
            self.seen += more
        return self.seen

    def read_all(self) -> str:
        """Read to the end, and return it all."""
        while more := self._read():
            self.seen += more
        return self.seen

    def ends_with(self, code: int) -> str:
        """Read to the end, which must come with this exit code; return all that was shown."""
        shown = self.read_all()
        ended = self.process.wait(timeout=SECONDS)
        assert ended == code, f"it ended with {ended}; there was: {shown}"
        return shown

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _read(self) -> str:
        ready, _, _ = select.select([self._terminal], [], [], SECONDS)
        assert ready, f"nothing more came within {SECONDS} s; there was: {self.seen}"
        try:
            return os.read(self._terminal, 65_536).decode("utf-8", "replace")
        except OSError:  # how a terminal ends
            return ""


Sit = Callable[..., AbstractContextManager[Person]]


@contextmanager
def seated(
    words: tuple[str, ...], *, folder: Path, environ: Mapping[str, str], script: str | None
) -> Generator[Person]:
    """Start the command line on a terminal of its own."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, *words],
        cwd=folder,
        env=environ,
        stdin=theirs if script is None else subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    if script is not None:
        assert process.stdin is not None
        process.stdin.write(script.encode())
        process.stdin.close()
    try:
        yield Person(ours, process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
