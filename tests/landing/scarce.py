"""A program: land with fewer and fewer descriptors that may be opened.

    python scarce.py FOLDER

Prints one JSON line for each number of free descriptors: that number, the class and the text of
the error, and what of the stage is in the tree; where the error says that it is half landed, after
a recovery.
"""

import asyncio
import json
import os
import resource
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lineshaft.errors import WorkspaceError
from lineshaft.workspace import Folder

if TYPE_CHECKING:
    from collections.abc import Generator

MOST = 24
FOLDERS = 12


@contextmanager
def few(count: int) -> "Generator[None]":
    """Leave some descriptors free."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def main(folder: Path) -> None:
    """Land once for each number."""
    for count in range(MOST, -1, -1):
        root = folder / str(count) / "workspace"
        (root / "inside").mkdir(parents=True)
        for name in ("one", "inside/two"):
            (root / name).write_text("old")
        workspace = Folder(root, journals=root.parent / "journals")
        view = workspace.begin("run", atomic=True)
        await view.read("one")
        for name in ("one", "inside/two", *(f"new/{n}/three" for n in range(FOLDERS))):
            await view.write(name, b"new")
        said = ["", ""]
        with few(count):
            try:
                await view.land()
            except WorkspaceError as error:
                said = [type(error).__name__, error.message]
        if workspace.half_landed() and "half landed" in said[1]:
            await workspace.recover()
            said[0] = ""
        texts = {
            p.relative_to(root).as_posix(): p.read_text() for p in root.rglob("*") if p.is_file()
        }
        sys.stdout.write(json.dumps([count, *said, sorted(texts.items())]) + "\n")


asyncio.run(main(Path(sys.argv[1])))
