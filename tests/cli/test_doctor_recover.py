"""`lineshaft doctor` says what a crash left half landed; `--recover` finishes it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CRASH = """
import os, sys
from pathlib import Path
import anyio
from lineshaft.store import workspace_folder
from lineshaft.workspace import Folder
from lineshaft.workspace.journal import failpoints

async def main():
    root = Path(sys.argv[1])
    view = Folder(root, journals=workspace_folder(root)).begin("run", atomic=True)
    for name in ("a", "b", "c"):
        await view.write(name, name.encode())
    failpoints.at_each_step(lambda step: os._exit(9) if step == "file-placed" else None)
    await view.land()

anyio.run(main)
"""

Lineshaft = Callable[..., "subprocess.CompletedProcess[str]"]


def crash(workspace: Path, environ: dict[str, str]) -> None:
    command = [sys.executable, "-c", CRASH, str(workspace.resolve())]
    assert subprocess.run(command, env=environ, check=False).returncode == 9


@pytest.mark.long
def test_doctor_finds_and_finishes_what_a_crash_left(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    assert "nothing to recover" in lineshaft("doctor", "--recover").stdout
    crash(workspace, environ)
    (workspace / "c").write_text("theirs")

    told = lineshaft("doctor", "--quick")
    assert told.returncode == 1
    assert "half landed" in told.stdout
    assert "doctor --recover" in told.stdout

    done = lineshaft("doctor", "--recover")
    assert done.returncode == 0, done.stderr
    assert "stage 1 of run run was finished" in done.stdout
    assert "'c'" in done.stdout
    assert {path.name: path.read_text() for path in workspace.iterdir()} == {
        "a": "a",
        "b": "b",
        "c": "theirs",
    }
    assert "no changes are half landed" in lineshaft("doctor", "--quick").stdout


def test_a_run_recovers_before_it_reads(
    lineshaft: Lineshaft, workspace: Path, environ: dict[str, str]
) -> None:
    crash(workspace, environ)
    done = lineshaft("call", "read_file", "path=c", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["value"]["content"] == "c"
