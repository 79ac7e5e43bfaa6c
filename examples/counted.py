"""A microagent that works by a program over its tools, and whose result is checked at the files.

Offline it answers by a rule. `LINESHAFT_MODEL=ollama:qwen3 python counted.py` asks a real model.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TypedDict

from lineshaft import kit
from lineshaft.agents import Budget, Microagent
from lineshaft.errors import WorkspaceError
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import call, exit_with
from lineshaft.values import Context

TEXTS = {"a.txt": "one two three\n", "b.txt": "four\n", "c.txt": "five six\n"}

PROGRAM = """
paths = [each["path"] for each in (await find_files("*.txt"))["entries"]]
texts = await asyncio.gather(*[read_file(path) for path in paths])
return {each["path"]: len(each["content"].split()) for each in texts}
"""


class Longest(TypedDict):
    """The file with the most words."""

    path: str
    words: int


async def is_true(result: Longest, context: Context) -> str | None:
    """Return what is wrong with a result, or None: the file itself says."""
    try:
        text = (await context.workspace.read(result["path"])).data
    except WorkspaceError as error:
        return f"{result['path']} cannot be read: {error.message}"
    words = len(text.split())
    return None if words == result["words"] else f"{result['path']} has {words} words"


class ByRule:
    """Stands for a model: runs a program, and errs once."""

    name = "by-rule"
    priced = True

    async def complete(self, request: ModelRequest, *, on_text: object = None) -> ModelReply:
        """As `lineshaft.models.Model.complete`."""
        answers = [each for each in request.messages if isinstance(each, CallAnswer)]
        if not answers:
            return call("run_script", code=PROGRAM)
        return exit_with({"path": "a.txt", "words": 2 if len(answers) == 1 else 3})


counter = Microagent[Longest](
    name="counter",
    instructions="Find the text file with the most words. Use one program over the files.",
    tools=[kit.tools("find_files", "read_file")],
    scripts=True,
    model=os.environ.get("LINESHAFT_MODEL") or ByRule(),
    budget=Budget(turns=10, seconds=120),
    validate=is_true,
)


async def main() -> None:
    """Count words in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in TEXTS.items():
            (Path(folder) / name).write_text(text)
        result = await counter.run(text="Which file is the longest?", workspace=folder)
        print(result.output["path"], result.output["words"])
        print(result.usage.turns, "turns,", result.usage.failed_exits, "refused")


if __name__ == "__main__":
    asyncio.run(main())
