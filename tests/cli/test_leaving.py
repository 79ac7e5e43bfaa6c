"""Leaving a command whose tool does not end: nothing keeps the process."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

STUBBORN = '''
import asyncio, os, sys
from lineshaft import tool

@tool(effect="read")
async def stubborn() -> None:
    """Never end."""
    os.write(2, b"started\\n")
    while True:
        try:
            await asyncio.sleep(0.2)
        except asyncio.CancelledError:
            os.write(2, b"told\\n")
'''


def left(workspace: Path, environ: dict[str, str], *words: str, signals: int) -> dict[str, object]:
    """Run a command, interrupt it when its tool has started, and return what it printed."""
    (workspace / "stubborn_tools.py").write_text(STUBBORN)
    with subprocess.Popen(
        [sys.executable, "-m", "lineshaft", *words, "--json", "--tools", "stubborn_tools.py"],
        cwd=workspace,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("await stubborn()")
        process.stdin.close()
        for expected in ("started", "told")[:signals]:
            assert expected in process.stderr.readline()
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=15) == 130
        assert "Traceback" not in process.stderr.read()
        return json.loads(process.stdout.read())


@pytest.mark.long
@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("words", "status"), [(("run", "-"), "cancelled"), (("call", "stubborn"), "unknown")]
)
def test_an_abandoned_tool_does_not_keep_the_process(
    workspace: Path, environ: dict[str, str], words: tuple[str, ...], status: str
) -> None:
    told = left(workspace, environ, *words, signals=1)
    assert told["status"] == status
    error = told["error"]
    assert isinstance(error, dict)
    assert error["code"] == "E_CANCELLED"


def test_whoever_asks_twice_need_not_wait(workspace: Path, environ: dict[str, str]) -> None:
    told = left(workspace, environ, "run", "-", signals=2)
    error = told["error"]
    assert isinstance(error, dict)
    assert error["code"] == "E_CANCELLED"


def test_help_on_a_full_disk_is_an_error_in_words(workspace: Path, environ: dict[str, str]) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with full.open("w") as nowhere:
        done = subprocess.run(
            [sys.executable, "-m", "lineshaft", "--help"],
            cwd=workspace,
            env=environ,
            stdout=nowhere,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
