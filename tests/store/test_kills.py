"""Processes are killed between a call and its end, and race for one run: nothing is made twice."""

import json
import subprocess
import sys
from pathlib import Path

KILLS, RACES = 20, 20
"""`./dev kills` makes hundreds."""

PROGRAM = Path(__file__).with_name("kills.py")


def test_no_call_is_lost_and_no_run_is_taken_twice(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), str(KILLS), str(RACES), "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rounds = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["wrong"] for one in rounds if one["wrong"]] == []
    assert [one["round"] for one in rounds] == ["kill"] * KILLS + ["race"] * RACES
