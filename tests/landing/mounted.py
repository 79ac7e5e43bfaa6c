"""A program: try to move and delete what is a mount point of its workspace.

    python mounted.py FOLDER JOURNALS

In FOLDER `disk` is a file system of its own, and `one` a file that is mounted. Prints one JSON
object for each attempt: its error, and the tree afterwards.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from lineshaft.errors import LineshaftError
from lineshaft.values import Stage
from lineshaft.workspace import Folder


async def move_all(view: Stage) -> None:
    """Move a mount point, with what is in it."""
    await view.write("other", b"changed")
    await view.move("disk", "went")


async def delete_all(view: Stage) -> None:
    """Delete a mount point, and first what is in it."""
    for path in ("disk/inner/y", "disk/inner", "disk/x", "disk"):
        await view.delete(path)


async def move_file(view: Stage) -> None:
    """Move a file that is mounted."""
    await view.move("one", "two")


def tree(root: Path) -> dict[str, str]:
    """Return the content of each file; of a folder, nothing."""
    return {
        path.relative_to(root).as_posix(): path.read_text() if path.is_file() else ""
        for path in sorted(root.rglob("*"))
    }


async def attempt(folder: Folder, do: Callable[[Stage], Awaitable[None]], *, atomic: bool) -> str:
    """Return the error of some changes."""
    view = folder.begin(f"{do.__name__}-{atomic}", atomic=atomic)
    try:
        await do(view)
        await view.land()
    except LineshaftError as error:
        return error.message
    finally:
        await view.discard()
    return ""


async def main(root: Path, journals: Path) -> None:
    """Try each, staged and straight through."""
    (root / "disk/x").write_text("x")
    (root / "disk/inner").mkdir()
    (root / "disk/inner/y").write_text("y")
    (root / "other").write_text("other")
    folder = Folder(root, journals=journals)
    before = tree(root)
    for atomic, do in ((True, move_all), (True, delete_all), (True, move_file), (False, move_file)):
        error = await attempt(folder, do, atomic=atomic)
        left = [path.name for path in journals.glob("*.landing")]
        told = {"error": error, "same": tree(root) == before, "left": left}
        sys.stdout.write(json.dumps({"name": f"{do.__name__} {atomic}", **told}) + "\n")


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), Path(sys.argv[2]))
