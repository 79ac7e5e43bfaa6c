"""A mount point in the workspace stays, and what failed over it is taken back whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ELSEWHERE

PROGRAM = Path(__file__).with_name("mounted.py")
MOUNTS = """
mount -t tmpfs tmpfs "$1/disk" && mount --bind "$2" "$1/one" && exec "$3" "$4" "$1" "$5"
"""


def test_what_fails_over_a_mount_point_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "disk").mkdir(parents=True)
    (root / "one").touch()
    (tmp_path / "outside").write_text("outside")
    (tmp_path / "journals").mkdir()
    given = [root, tmp_path / "outside", sys.executable, PROGRAM, tmp_path / "journals"]
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-rm"]
    command = [*apart, "sh", "-c", MOUNTS, "sh", *given]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    if ended.returncode and ("mount:" in ended.stderr or "unshare:" in ended.stderr):
        pytest.skip(f"{ELSEWHERE} nothing can be mounted here")
    assert ended.returncode == 0, ended.stderr
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(told) == 4
    for each in told:
        assert "mount point" in each["error"], each
        assert (each["same"], each["left"]) == (True, []), each
