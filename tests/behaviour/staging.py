"""Run programs over staged changes, as the user who starts this; a program.

Arguments: the boundary, the full Python to use, and the megabytes to stage in one file. It prints
one JSON object: what the programs said, what is on the disk after the first, and at the end.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from behaviour.programs import value_of
from lineshaft import Context, Policy, Session, Tool, kit
from lineshaft.values import PythonOptions

LOOK = """
import os
for folder, folders, files in sorted(os.walk('.')):
    folders.sort()
    for name in sorted(files):
        place = os.path.join(folder, name)
        print(place[2:], oct(os.stat(place).st_mode & 0o777), os.path.getsize(place))
"""
CHANGE = """
import os, shutil
open('narrow/new', 'a').write('+')
os.remove('closed')
os.rename('now/f', 'now/g')
shutil.rmtree('empty')
open('gone', 'w').write('again')
"""


def _fill(root: Path) -> None:
    (root / "gone").mkdir()
    (root / "gone" / "f").write_text("x", encoding="utf-8")
    (root / "was").mkdir()
    (root / "was" / "f").write_text("moved", encoding="utf-8")
    (root / "shut").mkdir()
    (root / "shut" / "old").write_text("old", encoding="utf-8")
    (root / "shut").chmod(0o555)


def _staging(megabytes: int) -> Tool[..., Any]:
    async def stage(call: Context) -> None:
        """Stage changes of each kind."""
        view = call.workspace
        await view.write("narrow/new", b"new")
        await view.make_folder("narrow", mode=0o555)
        await view.write("closed", b"closed", mode=0o400)
        await view.make_folder("empty", mode=0o700)
        await view.move("was", "now")
        await view.delete("gone/f")
        await view.delete("gone")
        await view.write("large", b"x" * (megabytes << 20))

    return Tool.from_function(stage, effect="write")


async def main(words: Sequence[str]) -> None:
    """Print what came of it."""
    boundary, python, megabytes = words
    options = PythonOptions(boundary=boundary, path=python or None)
    root = Path(tempfile.mkdtemp(dir=os.environ.get("WORKSPACES")))
    _fill(root)

    def disk() -> list[str]:
        """Return what is on the disk itself."""
        return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())

    tools = [kit.tools(), _staging(int(megabytes)), Tool.from_function(disk, effect="read")]
    policy = Policy(mode="open")
    async with Session(tools, workspace=root, policy=policy, python=options) as session:
        result = await session.run(
            "await stage()\n"
            f"said = [await python_run(code=code) for code in {[LOOK, CHANGE, LOOK]!r}]\n"
            "await delete_file('large')\n"
            "return {'said': said, 'between': await disk()}"
        )
        after = value_of(await session.call("python_run", {"code": "print('still runs')"}))
    left = [p.name for p in Path(tempfile.gettempdir()).glob("lineshaft-*/jail-*")]
    told = {"error": str(result.error), "after": after, "end": disk(), "left": left}
    sys.stdout.write(json.dumps({**told, "value": result.value, "user": os.geteuid()}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
