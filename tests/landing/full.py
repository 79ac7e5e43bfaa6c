"""A program: land on a disk that has less and less room, and see what is left each time.

    python full.py FOLDER JOURNALS TOLD

FOLDER is on a small disk of its own, TOLD a file that is not. Prints one JSON line for each room:
how the process ended, what the error was, and what was wrong afterwards, if anything.
"""

import json
import os
import shutil
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from landing.forks import done
from landing.trees import Tree, make, tree_of
from lineshaft.errors import WorkspaceError
from lineshaft.values import Stage
from lineshaft.workspace import Folder

SIZE = 100_000
TREE: Tree = {
    **{f"old-{number}": ("file", 0o644, b"o" * SIZE) for number in range(5)},
    "moved": ("folder", 0o755),
    "moved/inside": ("file", 0o600, b"i" * SIZE),
}


async def edit(view: Stage) -> None:
    """Need more room than there was."""
    for number in range(5):
        await view.write(f"old-{number}", b"n" * (SIZE + 20_000))
        await view.write(f"new/{number}", b"w" * SIZE)
    await view.delete("old-4")
    await view.move("moved", "went")


class Ground:
    """A workspace on a small disk."""

    def __init__(self, disk: Path, journals: Path) -> None:
        self.root, self.journals, self.filler = disk / "workspace", journals, disk / "filler"

    async def land(self, told: Path) -> None:
        """Land, and write down how it went."""
        workspace = Folder(self.root, journals=self.journals)
        view = workspace.begin("run", atomic=True)
        await edit(view)
        try:
            await view.land()
        except WorkspaceError as error:
            told.write_text(error.message)

    def clear(self) -> None:
        """Have the tree as it is before, and all the room."""
        self.filler.unlink(missing_ok=True)
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.journals, ignore_errors=True)
        self.root.mkdir()
        make(self.root, TREE)

    def fill(self, room: int) -> None:
        """Leave so much room on the disk."""
        with self.filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"f" * 4096)
        size = self.filler.stat().st_size
        os.truncate(self.filler, max(0, size - room))

    def round(self, room: int, told: Path, after: Tree) -> list[object]:
        """Land with so much room."""
        self.clear()
        told.unlink(missing_ok=True)
        self.fill(room)
        code = done(partial(self.land, told))
        message = told.read_text() if told.exists() else ""
        found = tree_of(self.root)
        expected = TREE if message else after
        wrong = sorted(p for p in found.keys() | expected.keys() if found.get(p) != expected.get(p))
        left = [path.name for path in self.journals.glob("*.landing")]
        return [room, code, message, wrong + left]


def main(disk: str, journals: str, told_in: str) -> None:
    """Go from no room to enough."""
    ground = Ground(Path(disk), Path(journals))
    told = Path(told_in)
    ground.clear()
    assert done(partial(ground.land, told)) == 0
    assert not told.exists(), told.read_text()
    after = tree_of(ground.root)
    for room in range(0, 3_200_000, 160_000):
        sys.stdout.write(json.dumps(ground.round(room, told, after)) + "\n")


if __name__ == "__main__":
    os.umask(0o022)
    main(*sys.argv[1:])
