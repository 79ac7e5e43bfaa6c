"""Paused runs of the command line, for tests of what comes after."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import cast

Done = subprocess.CompletedProcess[str]
Lineshaft = Callable[..., Done]
Facts = dict[str, object]

ASK_WRITES = (
    '[[policy.rules]]\nid = "ask-writes"\neffect = "write"\nverdict = "ask"\nreason = "look"'
)
GATHER = """
import asyncio
async def put(n):
    try:
        await write_file(path=f"out/{n}.txt", content=f"{n}\\n")
        return "done"
    except ToolError as error:
        return error.message
print("before")
came = await asyncio.gather(*[put(n) for n in range(4)])
print("after")
return came
"""


def facts(done: Done) -> Facts:
    return cast("Facts", json.loads(done.stdout))


def paused(lineshaft: Lineshaft, workspace: Path, script: str = GATHER) -> Facts:
    (workspace / "lineshaft.toml").write_text(ASK_WRITES)
    done = lineshaft("run", "-", "--json", stdin=script)
    assert done.returncode == 5, done.stderr
    return facts(done)


def ids(run: Facts) -> list[str]:
    return [str(each["id"]) for each in cast("list[Facts]", run["pending"])]


def files(workspace: Path) -> dict[str, str]:
    return {
        path.relative_to(workspace).as_posix(): path.read_text()
        for path in sorted(workspace.rglob("*"))
        if path.is_file()
    }
