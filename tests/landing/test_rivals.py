"""Two runs that land at once over the same files: one of them does, whole."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("rivals.py")
ROUNDS = 12


def test_two_runs_over_the_same_files_never_leave_a_mixture(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path / "ground"), str(ROUNDS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rounds = [json.loads(line) for line in ended.stdout.splitlines()]
    for number, (codes, found) in enumerate(rounds):
        assert sorted(codes) == [0, 3], codes
        assert found == [f"{'ab'[codes.index(0)]}-{number}"]
    assert len(rounds) == ROUNDS
