"""The command line on a real (pseudo) terminal, with a person who reads and types."""

import os
import re
import select
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo terminals", allow_module_level=True)

import pty

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


@pytest.fixture
def sit(workspace: Path, environ: dict[str, str]) -> Sit:
    """Return a context manager that starts the command line on a terminal of its own."""

    @contextmanager
    def start(
        *words: str, script: str | None = None, variables: dict[str, str] | None = None
    ) -> Generator[Person]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, *words],
            cwd=workspace,
            env=environ | (variables or {}),
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

    return start


STUBBORN = '''
import asyncio, os
from lineshaft import tool

@tool(effect="read")
async def stubborn() -> None:
    """Never end."""
    os.write(2, b"started")
    while True:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            os.write(2, b"told")
'''


def test_calls_are_drawn_while_they_run_and_the_value_comes_last(sit: Sit) -> None:
    with sit("run", "-", script="await list_files()\nreturn 'the end'") as person:
        shown = person.ends_with(0)
    plain = COLOUR.sub("", shown)
    assert "✓ list_files" in plain
    assert plain.index("✓ list_files") < plain.index("the end") < plain.index("success in")
    assert COLOUR.search(shown)


def test_no_color_leaves_colours_out(sit: Sit) -> None:
    script = "await list_files()\nraise ValueError"
    with sit("run", "-", script=script, variables={"NO_COLOR": "1"}) as person:
        shown = person.ends_with(1)
    assert "list_files" in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7][0-9;]*m", shown)


def test_escapes_of_a_script_are_shown_and_not_obeyed(sit: Sit) -> None:
    script = "print('\\x1b]0;mine\\x07')\nreturn '\\x1b[2J'"
    with sit("run", "-", "-q", script=script) as person:
        shown = person.ends_with(0)
    assert "\\x1b]0;mine\\x07" in shown
    assert "\\x1b[2J" in shown
    assert "\x1b" not in shown


ASKS = "return (await run_command(command='echo done-it'))['stdout']"


@pytest.mark.parametrize(
    ("typed", "code", "says"),
    [("y\r", 0, "done-it\r\n"), ("n not today\r", 3, "not today"), ("what\ry\r", 0, "y: yes")],
)
def test_a_person_is_asked_and_answers(sit: Sit, typed: str, code: int, says: str) -> None:
    with sit("run", "-", script=ASKS) as person:
        question = person.read_until("Allow?")
        assert "command: echo done-it" in question
        person.type(typed)
        assert says in person.ends_with(code)


def test_what_was_typed_before_the_question_is_no_answer(sit: Sit, workspace: Path) -> None:
    (workspace / "s.py").write_text(ASKS)
    with sit("run", "s.py") as person:
        person.type("y\r")
        person.read_until("Allow?")
        person.type("n\r")
        person.ends_with(3)


def test_yes_to_all_asks_once_a_run(sit: Sit) -> None:
    script = "for _ in range(3):\n    await run_command(command='true')"
    with sit("run", "-", script=script) as person:
        person.read_until("Allow?")
        person.type("a\r")
        shown = person.ends_with(0)
    assert shown.count("Allow?") == 1


def test_ctrl_c_cancels_the_run(sit: Sit) -> None:
    with sit("run", "-", script="await list_files()\nwhile True: pass") as person:
        person.read_until("list_files")
        person.type("\x03")
        shown = person.ends_with(130)
    assert "cancelled" in shown
    assert "Traceback" not in shown


def test_whoever_leaves_twice_gets_the_terminal_back(sit: Sit, workspace: Path) -> None:
    (workspace / "own.py").write_text(STUBBORN)
    with sit("run", "-", "--tools", "own.py", script="await stubborn()") as person:
        for expected in ("started", "told"):
            person.read_until(expected)
            person.type("\x03")
        shown = person.ends_with(130)
    assert "its record has no end" in shown
    assert shown.rindex(CURSOR_SHOWN) > shown.rindex(CURSOR_HIDDEN)


def test_ctrl_c_at_a_question_cancels_too(sit: Sit) -> None:
    with sit("run", "-", script=ASKS) as person:
        person.read_until("Allow?")
        person.type("\x03")
        person.ends_with(130)


def test_a_projects_module_is_asked_about_once(sit: Sit, workspace: Path) -> None:
    (workspace / "tools.py").write_text(
        "from lineshaft import tool\n\n@tool(effect='read')\ndef one() -> int:\n"
        '    """Return one."""\n    return 1\n'
    )
    (workspace / "lineshaft.toml").write_text('[tools]\nmodules = ["./tools.py"]')
    with sit("call", "one") as person:
        assert "with your rights" in person.read_until("Trust it")
        person.type("y\r")
        person.ends_with(0)
    with sit("call", "one") as person:
        assert "Trust it" not in person.ends_with(0)
