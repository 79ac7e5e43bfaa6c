"""A program renames folders of the workspace as it would anywhere, whoever runs it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ELSEWHERE
from lineshaft.sandbox.bundle import Interpreter
from users import open_python, said_by

pytestmark = pytest.mark.behaviour("H31")

NOBODY = 65_534

SAID = {
    "rename": "['deep', 'x']\n",
    **dict.fromkeys(("path", "replace", "bytes", "shutil", "a file"), "done\n"),
    "onto what is not empty": "OSError 39\n",
    "onto a file": "NotADirectoryError 20\n",
    "into itself": "OSError 22\n",
    "what is not there": "FileNotFoundError 2\n",
}
FOLDERS = ("empty", "f", "moved", "renamed", "renamed bytes", "sub/renamed")
FILES = sorted([*(f"{f}/{x}" for f in FOLDERS for x in ("x", "deep/y")), "sub/file", "sub/there"])


@pytest.fixture(scope="module")
def python() -> Iterator[Interpreter]:
    """Return a full Python that every user may read."""
    with open_python() as interpreter:
        yield interpreter


@pytest.mark.parametrize("user", [None, NOBODY])
def test_folders_are_renamed_by_every_user(
    user: int | None, jail: str, python: Interpreter
) -> None:
    if user is not None and os.geteuid() != 0:
        pytest.skip(f"{ELSEWHERE} only root can be somebody else")
    program = Path(__file__).with_name("moves.py")
    report = json.loads(said_by(program, python, jail, str(python.root), user=user))
    assert report["said"] == SAID
    assert report["files"] == FILES
    assert report["user"] == (os.geteuid() if user is None else user)
