"""Programs see what is mounted in the workspace, as the other tools do."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ELSEWHERE

pytestmark = pytest.mark.behaviour("H31")

PROGRAM = Path(__file__).with_name("mounted.py")
MOUNTS = 'mount -t tmpfs tmpfs "$1/disk" && exec "$2" -B "$3" "$4" "$1"'


def test_a_program_sees_what_is_mounted_in_the_workspace(tmp_path: Path, boundary: str) -> None:
    root = tmp_path / "workspace"
    (root / "disk").mkdir(parents=True)
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-rm"]
    ended = subprocess.run(
        [*apart, "sh", "-c", MOUNTS, "sh", root, sys.executable, PROGRAM, boundary],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )

    if ended.returncode and ("mount:" in ended.stderr or "unshare:" in ended.stderr):
        pytest.skip(f"{ELSEWHERE} nothing can be mounted here")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert (told["value"], told["error"]) == (["real\nTrue\n", "staged\nTrue\n"], "None")
    assert told["files"] == {"beside": "++", "disk/seen": "staged", "disk/shut/secret": "secret"}
