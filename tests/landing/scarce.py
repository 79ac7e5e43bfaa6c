"""A program: land with fewer and fewer descriptors that may be opened.

    python scarce.py FOLDER

Prints one JSON line for each number of free descriptors: that number, the class and the text of
the error, and what of the stage is in the tree.
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

MOST = 16


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
        view = Folder(root, journals=root.parent / "journals").begin("run", atomic=True)
        await view.read("one")
        for name in ("one", "inside/two", "new/three"):
            await view.write(name, b"new")
        said = ["", ""]
        with few(count):
            try:
                await view.land()
            except WorkspaceError as error:
                said = [type(error).__name__, error.message]
        texts = {
            p.relative_to(root).as_posix(): p.read_text() for p in root.rglob("*") if p.is_file()
        }
        sys.stdout.write(json.dumps([count, *said, sorted(texts.items())]) + "\n")


asyncio.run(main(Path(sys.argv[1])))
