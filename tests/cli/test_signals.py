"""Ctrl-C and its relatives, at every moment of a command: the run has its end, the exit is 130."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("signals of Unix", allow_module_level=True)

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]

TELLING = """
import asyncio, os, signal
from lineshaft import tool

@tool(effect="read")
async def tell(number: int, stay: bool) -> int:
    '''Signal every process in front of the terminal.'''
    os.killpg(0, number)
    while stay:
        await asyncio.sleep(3_600)
    return 5
"""

LOADING = """
import os, signal, sys

last = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, *_):
        if name == last:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from lineshaft.cli import main
main()
"""


@pytest.fixture
def ended(workspace: Path, environ: dict[str, str]) -> Lineshaft:
    """Return a function that runs a program in a session of its own, as in front of a terminal."""
    (workspace / "own.py").write_text(TELLING)

    def run(*argv: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            argv,
            cwd=workspace,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            start_new_session=True,
        )

    return run


def _records(tmp_path: Path) -> list[str]:
    """Return the last event of each record."""
    last = (
        "SELECT json_extract(shown, '$[#-1]'), max(seq) FROM log"
        " WHERE shown IS NOT NULL GROUP BY run"
    )
    found: list[str] = []
    for path in (tmp_path / "STATE").rglob("runs.db"):
        with closing(sqlite3.connect(path)) as store:
            found += [text for text, _ in store.execute(last)]
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "script",
    ["await tell(number={}, stay=True)", "await tell(number={}, stay=False)\nwhile True: pass"],
)
def test_a_script_is_cancelled_while_it_calls_or_computes(
    ended: Lineshaft, workspace: Path, tmp_path: Path, number: signal.Signals, script: str
) -> None:
    """Its worker is in front of the terminal too, and must not die of the signal before."""
    (workspace / "s.py").write_text(script.format(int(number)))
    words = ("run", "s.py", "--json", "--tools", "own.py", "--mode", "open")
    done = ended(sys.executable, "-m", "lineshaft", *words)
    assert done.returncode == 130, done.stderr
    assert json.loads(done.stdout)["status"] == "cancelled"
    (last,) = _records(tmp_path)
    assert '"run_finished"' in last
    assert '"cancelled"' in last


@pytest.mark.parametrize("command", ["run", "call", "check"])
def test_a_command_that_has_not_begun_leaves_no_record(
    ended: Lineshaft, workspace: Path, tmp_path: Path, command: str
) -> None:
    (workspace / "early.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)")
    (workspace / "s.py").write_text("return 1")
    words = (command, "s.py", "--tools", "early.py", *(["--json"] if command != "check" else []))
    done = ended(sys.executable, "-m", "lineshaft", *words)
    assert done.returncode == 130, done.stderr
    assert "error: cancelled\n" in done.stderr
    if command != "check":
        assert json.loads(done.stdout)["error"]["code"] == "E_CANCELLED"
    assert _records(tmp_path) == []


@pytest.mark.parametrize(
    "module", ["lineshaft.errors", "lineshaft.cli._app", "lineshaft.session", "click"]
)
def test_a_command_that_is_still_being_loaded_is_left_at_once(
    ended: Lineshaft, module: str
) -> None:
    done = ended(sys.executable, "-c", LOADING, module, "run", "s.py")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_run_that_has_its_end_keeps_it_when_its_value_is_not_wanted(
    ended: Lineshaft, workspace: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    (workspace / "s.py").write_text("return 'x' * 1_000_000")
    with subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "run", "s.py", "-q"],
        cwd=workspace,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == b"x"
        process.send_signal(signal.SIGINT)  # while it waits for somebody who reads the rest
        assert process.wait(timeout=60) == 130
        assert b"Traceback" not in process.stderr.read()
    (last,) = _records(tmp_path)
    assert '"run_finished"' in last
    assert '"success"' in last


def test_whoever_started_it_may_have_signals_ignored(ended: Lineshaft, workspace: Path) -> None:
    (workspace / "s.py").write_text(f"return await tell(number={int(signal.SIGHUP)}, stay=False)")
    words = ("run", "s.py", "--tools", "own.py", "--mode", "open", "-q")
    ignoring = ("/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh")  # as nohup does
    done = ended(*ignoring, sys.executable, "-m", "lineshaft", *words)
    assert (done.returncode, done.stdout) == (0, "5\n"), done.stderr


BLOCKING = """
import os, signal, threading
from lineshaft.agents import Microagent

class Model:
    name, priced = "blocking", True

    async def complete(self, request, *, on_text=None):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait()

slow = Microagent[str](name="slow", instructions="Wait.", model=Model())
"""


def test_a_second_ctrl_c_ends_what_a_model_blocks(ended: Lineshaft, workspace: Path) -> None:
    (workspace / "slow.py").write_text(BLOCKING)
    words = ("agent", "run", "slow", "text=x", "--tools", "slow.py", "--quiet")
    done = ended(sys.executable, "-m", "lineshaft", *words)
    assert (done.returncode, done.stdout) == (130, "")
    assert "left before the run was settled" in done.stderr


PARSED = """
import signal, sys
import click
def interrupted(self, context, args):
    signal.raise_signal(signal.SIGINT)
click.Command.parse_args = interrupted
sys.argv = ["lineshaft", "run", "--json", "-c", "return 1"]
from lineshaft.cli import main
main()
"""


def test_ctrl_c_while_a_command_line_is_read_is_told_as_any_other(ended: Lineshaft) -> None:
    done = ended(sys.executable, "-c", PARSED)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (130, "E_CANCELLED")


@pytest.mark.skipif(sys.platform != "linux", reason="platform: xdg-open")
def test_what_opens_a_browser_has_none_of_our_streams(tmp_path: Path) -> None:
    opens = tmp_path / "xdg-open"
    opens.write_text(f"#!/bin/sh\necho opening; cat; echo $1 >{tmp_path}/half\nmv half opened\n")
    opens.chmod(0o755)
    code = (
        "import pathlib, time; from lineshaft.cli._offer import _show; _show('https://a.example/')\n"
        "while not pathlib.Path('opened').exists(): time.sleep(0.01)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        input="ours",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout == ""
    assert (tmp_path / "opened").read_text() == "https://a.example/\n"
