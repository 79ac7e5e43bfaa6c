"""A microagent that sorts reports, and a script that runs one for each report at once.

Offline it answers by a rule. `LINESHAFT_MODEL=ollama:qwen3 python triage.py` asks a real model.
`lineshaft run -c 'return await agents.triage(path="1.md")' --tools triage.py` is the same agent
on the command line.
"""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Literal, TypedDict

from pydantic import BaseModel

from lineshaft import Session, WorkspacePath, kit
from lineshaft.agents import Budget, Microagent
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import call, exit_with

REPORTS = {"1.md": "It crashes when I save.\n", "2.md": "How do I save?\n"}

SCRIPT = """
paths = [each["path"] for each in (await find_files("*.md"))["entries"]]
found = await asyncio.gather(*[agents.triage(path=path) for path in paths])
lines = [f"{path}: {one['label']}" for path, one in zip(paths, found)]
await write_file("kinds.txt", "\\n".join(lines) + "\\n")
return lines
"""


class Report(TypedDict):
    """A report."""

    path: WorkspacePath


class Kind(BaseModel):
    """The kind of a report."""

    label: Literal["bug", "question"]
    why: str


class ByRule:
    """Stands for a model: reads the report, and takes a question mark for a question."""

    name = "by-rule"
    priced = True

    async def complete(self, request: ModelRequest, *, on_text: object = None) -> ModelReply:
        """As `lineshaft.models.Model.complete`."""
        last = request.messages[-1]
        if not isinstance(last, CallAnswer):
            path = next(path for path in REPORTS if path in request.messages[0].text)
            return call("read_file", path=path)
        asks = "?" in last.text
        why = "it asks" if asks else "it complains"
        return exit_with(label="question" if asks else "bug", why=why)


triage = Microagent[Kind](
    name="triage",
    instructions="Read the report at the path with `read_file`, and say its kind.",
    inputs=Report,
    tools=[kit.tools("read_file")],
    model=os.environ.get("LINESHAFT_MODEL") or ByRule(),
    budget=Budget(turns=10, seconds=120),
)


async def main() -> None:
    """Sort two reports in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in REPORTS.items():
            (Path(folder) / name).write_text(text)
        async with Session([triage, kit.tools()], workspace=folder) as session:
            result = await session.run(SCRIPT)
        result.raise_for_status()
        print("\n".join(result.value))
        print([change.path for change in result.changes], result.usage.calls["ask_model"])


if __name__ == "__main__":
    asyncio.run(main())
