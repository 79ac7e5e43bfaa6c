"""Runs of pytest over any source of Lineshaft, which begin with what no mutant changes imported."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from mutants.forks import ROOT

PROGRAM = Path(__file__).with_name("forks.py")
PLUGINS = ("-p", "no:cacheprovider", "-p", "anyio.pytest_plugin", "-p", "pytest_timeout")
SECONDS = 30
"""A run that takes longer hangs."""


class Prepared:
    """Runs pytest in processes that have what no mutant changes imported already."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self._process = process
        self._output = output

    def pytest(self, source: Path, *words: str, seconds: float = SECONDS) -> tuple[int | None, str]:
        """Return the exit code over a source, and what was printed; None: it hung."""
        order = {
            "source": str(source),
            "words": ["-qx", *PLUGINS, *words],
            "output": str(self._output),
        }
        self._output.write_bytes(b"")
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(order)}\n".encode())
        pid = self._answer()
        hung = not self._answers(seconds)
        if hung:
            os.killpg(pid, signal.SIGKILL)
        code = self._answer()
        output = self._output.read_text(encoding="utf-8", errors="replace")
        return (None, "hung") if hung else (code, output)

    def _answers(self, seconds: float) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@contextmanager
def prepared_pytest(output: Path) -> Generator[Prepared]:
    """Give runs of pytest.

    Args:
        output: A file for what they print.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COV", "PYTEST", "LINESHAFT_", "DEV_"))
    }
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # all of them take longer than a test
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,  # an answer that is there is seen by `select`
    ) as process:
        yield Prepared(process, output)
