"""Programs over staged changes, whoever runs them, and where there is no room for them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ELSEWHERE
from lineshaft.sandbox.bundle import Interpreter
from users import open_python, said_by

pytestmark = pytest.mark.behaviour("H31", "D20")

NOBODY = 65_534
PROGRAM = Path(__file__).with_name("staging.py")
MOUNTS = 'mount -t tmpfs -o size=6m,mode=700 tmpfs "$TMPDIR" && exec "$@"'
FILES = ["gone/f", "shut/old", "was/f"]


@pytest.fixture(scope="module")
def python() -> Iterator[Interpreter]:
    """Return a full Python that every user may read."""
    with open_python() as interpreter:
        yield interpreter


@pytest.mark.parametrize("user", [None, NOBODY])
def test_staged_changes_are_seen_whoever_runs_the_program(
    user: int | None, jail: str, python: Interpreter
) -> None:
    if user is not None and os.geteuid() != 0:
        pytest.skip(f"{ELSEWHERE} only root can be somebody else")

    report = json.loads(said_by(PROGRAM, python, jail, str(python.root), "1", user=user))

    assert report["error"] == "None"
    assert [said["stderr"] for said in report["value"]["said"]] == ["", "", ""]
    first, _, last = (said["stdout"].splitlines() for said in report["value"]["said"])
    large = f"large 0o644 {1 << 20}"
    assert first == [
        "closed 0o400 6",
        large,
        "narrow/new 0o644 3",
        "now/f 0o644 5",
        "shut/old 0o644 3",
    ]
    assert last == [
        "gone 0o644 5",
        large,
        "narrow/new 0o644 4",
        "now/g 0o644 5",
        "shut/old 0o644 3",
    ]
    assert report["value"]["between"] == FILES
    assert report["end"] == ["gone", "narrow/new", "now/g", "shut/old"]
    assert (report["left"], report["user"]) == ([], os.geteuid() if user is None else user)


def on_a_small_disk(tmp_path: Path, boundary: str) -> dict[str, Any]:
    """Run the program where 6 MB are all that there is for private files."""
    for name in ("private", "workspaces"):
        (tmp_path / name).mkdir()
    places = {"TMPDIR": str(tmp_path / "private"), "WORKSPACES": str(tmp_path / "workspaces")}
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-rm"]
    command = ["sh", "-c", MOUNTS, "sh", sys.executable, "-B", str(PROGRAM), boundary, "", "12"]
    ended = subprocess.run(
        [*apart, *command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **places, "PYTHONPATH": path},
    )
    if ended.returncode and ("mount:" in ended.stderr or "unshare:" in ended.stderr):
        pytest.skip(f"{ELSEWHERE} no small disk can be mounted here")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_where_there_is_no_room_the_error_says_so_and_nothing_is_left(
    tmp_path: Path, boundary: str
) -> None:
    report = on_a_small_disk(tmp_path, boundary)

    errors = [said["error"] for said in report["value"]["said"]]
    assert {error["code"] for error in errors} == {"PYTHON_EXEC_FAILED"}
    assert all("'large'" in e["message"] and "No space" in e["message"] for e in errors), errors
    assert report["value"]["between"] == FILES
    assert report["error"] == "None"
    assert report["end"] == ["closed", "narrow/new", "now/f", "shut/old"]
    assert report["after"]["stdout"] == "still runs\n"
    assert report["left"] == []
