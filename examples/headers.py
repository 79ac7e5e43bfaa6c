"""Microagents that write: one for each file at once, in one run, taken back by one undo.

Offline they answer by a rule. `LINESHAFT_MODEL=ollama:qwen3 python headers.py` asks a real model.
Each agent's changes are a layer of their own until it exits; an agent that gives up leaves nothing.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TypedDict

from lineshaft import Session, WorkspacePath, kit
from lineshaft.agents import Budget, Microagent
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import call, exit_with

FILES = {"area.py": "def area(a, b):\n    return a * b\n", "empty.py": "", "twice.py": "x = 2\n"}

SCRIPT = """
paths = [each["path"] for each in (await find_files("*.py"))["entries"]]
found = await asyncio.gather(
    *[agents.header(path=path) for path in paths], return_exceptions=True
)
return {
    path: one.message if isinstance(one, ToolError) else one for path, one in zip(paths, found)
}
"""


class Source(TypedDict):
    """A Python file."""

    path: WorkspacePath


class ByRule:
    """Stands for a model: reads the file, puts a line in front of it, gives up on an empty one."""

    name = "by-rule"
    priced = True

    async def complete(self, request: ModelRequest, *, on_text: object = None) -> ModelReply:
        """As `lineshaft.models.Model.complete`."""
        path = next(path for path in FILES if path in request.messages[0].text)
        answers = [each for each in request.messages if isinstance(each, CallAnswer)]
        if not answers:
            return call("read_file", path=path)
        if not FILES[path]:
            return call("GiveUp", reason="the file is empty")
        if len(answers) == 1:
            return call("write_file", path=path, content=f'"""{path[:-3]}."""\n\n{FILES[path]}')
        return exit_with(f"{path[:-3]}.")


header = Microagent[str](
    name="header",
    instructions="Read the Python file at the path and write it again with a docstring of one line"
    " in front. The result is that line. Give up on an empty file.",
    inputs=Source,
    tools=[kit.tools("read_file", "write_file")],
    model=os.environ.get("LINESHAFT_MODEL") or ByRule(),
    budget=Budget(turns=10, seconds=120),
)


async def main() -> None:
    """Write headers in a folder of their own, and take all of them back."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        for path, text in FILES.items():
            (folder / path).write_text(text)
        store = Path(name) / "runs.db"
        async with Session([header, kit.tools()], workspace=folder, store=store) as session:
            result = await session.run(SCRIPT)
            result.raise_for_status()
            for path, said in result.value.items():
                print(f"{path}: {said}")
            print(sorted(change.path for change in result.changes))
            undone = await session.undo(result.run_id)
            print(len(undone), "taken back")


if __name__ == "__main__":
    asyncio.run(main())
