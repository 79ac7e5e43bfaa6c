"""A program: two processes land at once, over the same files, again and again.

    python rivals.py FOLDER ROUNDS

prints one JSON line a round: how each ended, and which contents were found afterwards.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from landing.forks import begin, ended
from lineshaft.errors import StaleFile
from lineshaft.workspace import Folder

FILES = 20
STALE = 3


async def land(folder: Path, name: str, ready: int, gate: int) -> None:
    """Write all files, wait for the other to be as far, land."""
    view = Folder(folder / "workspace", journals=folder / "journals").begin(name, atomic=True)
    for number in range(FILES):
        before = await view.read(str(number))
        await view.write(str(number), name.encode(), if_match=before.sha256)
    os.write(ready, b"!")
    os.read(gate, 1)
    try:
        await view.land()
    except StaleFile:
        os._exit(STALE)


def main(name: str, rounds: str) -> None:
    """Go through all rounds."""
    folder = Path(name).resolve()
    (folder / "workspace").mkdir(parents=True)
    files = [folder / "workspace" / str(number) for number in range(FILES)]
    for file in files:
        file.write_text("nobody")
    for number in range(int(rounds)):
        is_ready, ready = os.pipe()
        gate, start = os.pipe()
        rivals = [begin(partial(land, folder, f"{who}-{number}", ready, gate)) for who in "ab"]
        for _ in rivals:
            os.read(is_ready, 1)
        os.write(start, b"!!")
        codes = [ended(pid) for pid in rivals]
        for descriptor in (is_ready, ready, gate, start):
            os.close(descriptor)
        found = sorted({file.read_text() for file in files})
        sys.stdout.write(json.dumps([codes, found]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
