"""Where no more files can be opened, a stage lands whole or not at all, and the error says why."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("scarce.py")
BEFORE = [["inside/two", "old"], ["one", "old"]]
AFTER = sorted(
    [["inside/two", "new"], *([f"new/{n}/three", "new"] for n in range(12)), ["one", "new"]]
)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of processes")
def test_with_fewer_and_fewer_descriptors_a_stage_lands_whole_or_says_why(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    rounds = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [said for said in rounds if said[3] != (BEFORE if said[1] else AFTER)] == []
    wrong = [said for said in rounds if said[1] and "Too many open files" not in said[2]]
    assert wrong == []
    assert rounds[0][1] == ""
    assert rounds[-1][1] == "WorkspaceError"
