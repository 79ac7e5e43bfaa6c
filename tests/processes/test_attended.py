"""Helper programs that are run to their end."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from lineshaft.processes import attended


def running(word: str) -> bool:
    """Return whether a process has a word in its command line."""
    return any(word in " ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"]))


def test_its_output_and_its_exit_code_are_returned(tmp_path: Path) -> None:
    script = "echo out; echo err >&2; pwd; exit 3"
    done = attended(["sh", "-c", script], seconds=10, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, b"err\n")
    assert done.stdout.decode().splitlines() == ["out", str(tmp_path.resolve())]


def test_a_signal_that_ended_it_is_told() -> None:
    assert attended(["sh", "-c", "kill -9 $$"], seconds=10).returncode == -9


def test_it_has_the_variables_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_HOST", "here")
    script = [sys.executable, "-c", "import os; print(os.environ.get('OF_THE_HOST'))"]
    assert attended(script, seconds=10).stdout.split() == [b"here"]
    assert attended(script, seconds=10, env={}).stdout.split() == [b"None"]


def test_a_program_that_is_missing_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        attended(["/no/such/program"], seconds=10)


def test_its_whole_tree_ends_with_its_time(tmp_path: Path) -> None:
    mark = str(tmp_path)
    script = f"trap '' TERM; setsid sh -c 'sleep 300; : {mark}' & wait"
    with pytest.raises(subprocess.TimeoutExpired):
        attended(["sh", "-c", script], seconds=0.5)
    assert not running(mark)
