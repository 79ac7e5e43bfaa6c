"""Let every hostile script loose on one way, as the user who starts this; a program.

Arguments: the way, its boundary or nothing, and the full Python to use. It prints one JSON
object: what each case got.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import anyio

from hostile.grounds import Kind, Way
from hostile.siege import besiege

KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


async def main(words: Sequence[str]) -> None:
    """Print what came of it, and who tried."""
    kind, boundary, python = words
    with tempfile.TemporaryDirectory() as folder:
        found = await besiege(Way(KINDS[kind], boundary or None), Path(folder), python=python)
    sys.stdout.write(json.dumps({"user": os.geteuid(), "found": found}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
