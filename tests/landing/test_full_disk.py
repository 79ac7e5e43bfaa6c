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


KEPT_BACK = """
import asyncio, os, sys
from pathlib import Path
from lineshaft.errors import WorkspaceError
from lineshaft.workspace import Folder

async def main():
    view = Folder(sys.argv[2], journals=Path(sys.argv[3])).begin("run", atomic=True)
    try:
        for number in range(40):
            await view.write(f"f{number}", os.urandom(1_000_000))
    except WorkspaceError as error:
        print(error.message, "|", error.hint)
    kept = [each for each in Path(sys.argv[1]).rglob("*") if each.is_file()]
    print(sum(each.stat().st_size for each in kept) % 1_000_000)

asyncio.run(main())
"""


def test_a_full_temporary_folder_is_named(tmp_path: Path) -> None:
    for name in ("disk", "tree"):
        (tmp_path / name).mkdir()
    mounts = 'mount -t tmpfs -o size=6m tmpfs "$1" && TMPDIR="$1" exec "$2" -c "$3" "$1" "$4" "$5"'
    given = [tmp_path / "disk", sys.executable, KEPT_BACK, tmp_path / "tree", tmp_path / "journals"]
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounts, "sh", *given]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode and "mount:" in ended.stderr + ended.stdout:
        pytest.skip("no small disk can be mounted here")
    told, left = ended.stdout.splitlines()
    assert told.startswith("what is to land cannot be kept in the temporary folder: No space left")
    assert "TMPDIR" in told
    assert left == "0"  # no part of a content
