"""A process that lands again and again is killed at any instant: all or none is found each time."""

import json
import os
import subprocess
import sys
from pathlib import Path

EVERYTHING = os.environ.get("DEV_TEST_ALL") == "1"
ROUNDS = 60 if EVERYTHING else 15
"""`./dev kills` makes hundreds."""

PROGRAM = Path(__file__).with_name("kills.py")


def test_whoever_is_killed_at_any_instant_leaves_all_or_none(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), str(ROUNDS), "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rounds = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["wrong"] for one in rounds if one["wrong"]] == []
    assert len(rounds) == ROUNDS
    assert any(one["unfinished"] for one in rounds), "no landing was met"
    if EVERYTHING:
        assert any(one["half"] for one in rounds), "no half landing was met"
        assert any("left-alone" in one["codes"] for one in rounds), "nobody else was met"
