"""On a full disk nothing of a stage lands, the tree is as it was, and the error says why."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("full.py")
MOUNTS = 'mount -t tmpfs -o size=6m tmpfs "$1" && exec "$2" "$3" "$1" "$4" "$5"'


def small_disk(tmp_path: Path, journals: Path) -> list[list[object]]:
    """Run the program with a small disk of its own, mounted in a namespace of its own."""
    (tmp_path / "disk").mkdir()
    given = [tmp_path / "disk", sys.executable, PROGRAM, journals, tmp_path / "told"]
    command = ["sh", "-c", MOUNTS, "sh", *given]
    apart = ["unshare", "--user", "--map-root-user", "--mount"]
    ended = subprocess.run([*apart, *command], capture_output=True, text=True, check=False)
    if ended.returncode and "mount:" in ended.stderr + ended.stdout:
        pytest.skip("no small disk can be mounted here")
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.parametrize("where", ["beside the tree", "elsewhere"])
def test_a_full_disk_lands_all_or_nothing(tmp_path: Path, where: str) -> None:
    beside = where == "beside the tree"
    rounds = small_disk(tmp_path, tmp_path / ("disk/journals" if beside else "journals"))

    assert [one for one in rounds if one[1] != 0 or one[3] != []] == []
    messages = [str(one[2]) for one in rounds]
    assert messages[0]
    assert all("room" in message or "No space" in message for message in messages if message)
    assert messages[-1] == ""
