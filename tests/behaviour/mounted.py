"""Run programs over a workspace with a mount point in it; a program.

Arguments: the boundary, and the workspace, in which `disk` is a file system of its own. It prints
one JSON object: what the programs said, how the run ended, and the files at the end.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from lineshaft import Policy, Session, kit
from lineshaft.policy import Rule
from lineshaft.values import PythonOptions

LOOK = """
import os
for path in ('disk/seen', 'disk/shut/secret'):
    try:
        print(open(path).read())
    except OSError as error:
        print(type(error).__name__ in ('PermissionError', 'FileNotFoundError'))
open('beside', 'a').write('+')
"""
SCRIPT = f"""
first = await python_run(code={LOOK!r})
await write_file('disk/seen', 'staged')
second = await python_run(code={LOOK!r})
return [first['stdout'], second['stdout']]
"""


async def main(words: Sequence[str]) -> None:
    """Print the outputs, the error and the files at the end."""
    boundary, root = words[0], Path(words[1])
    (root / "disk/seen").write_text("real")
    (root / "disk/shut").mkdir()
    (root / "disk/shut/secret").write_text("secret")
    policy = Policy(mode="open", rules=(Rule(id="shut", verdict="deny", path="disk/shut/**"),))
    options = PythonOptions(boundary=boundary)
    async with Session(kit.tools(), workspace=root, policy=policy, python=options) as session:
        result = await session.run(SCRIPT)
    files = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    told = {"value": result.value, "error": str(result.error), "files": files}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
