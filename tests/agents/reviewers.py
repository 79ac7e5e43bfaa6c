"""A session whose script runs an agent for each file, for tests that end its process.

Run as a program it takes an order as JSON, does it, and prints what there was as JSON.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from lineshaft import Answer, Policy, RunResult, Session, Tool, kit
from lineshaft.agents import Microagent
from lineshaft.errors import ModelUnavailable
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import call, exit_with

SCRIPT = """
paths = [each['path'] for each in (await find_files('*.md'))['entries']]
found = await asyncio.gather(*[agents.review(path=path) for path in paths])
await write_file('report.txt', '\\n'.join(f"{each['path']} {each['label']}" for each in found))
return len(found)
"""

SAME = """
found = await asyncio.gather(*[agents.review(path='f1.md') for _ in range(3)])
return [each['path'] for each in found]
"""


class Review(BaseModel):
    """The review of one file."""

    label: Literal["good", "bad"]
    path: str


class Input(BaseModel):
    """Which file."""

    path: str


class Wire:
    """A model that reads a file, writes beside it and exits; each request leaves a line.

    Args:
        log: The file of these lines.
        sends: The file about which it calls `send` before it exits.
        lands: The file about which it calls `land` before it exits.
        busy: The file about whose first request it says to come back later, once.
        dies_at: Number of the request in the middle of which the process ends.
        hangs_at: Number of the request that is never answered.
    """

    priced = True

    def __init__(
        self,
        log: Path,
        *,
        sends: str = "",
        lands: str = "",
        busy: str = "",
        dies_at: int = 0,
        hangs_at: int = 0,
        name: str = "wire",
    ) -> None:
        self.name = name
        self._log = log
        self._sends = sends
        self._lands = lands
        self._busy = busy
        self._dies_at = dies_at
        self._hangs_at = hangs_at
        self._count = 0

    async def complete(self, request: ModelRequest, *, on_text: object = None) -> ModelReply:
        """As `Model.complete`."""
        del on_text
        self._count += 1
        number = self._count
        path = request.messages[0].text.split("text\n")[1].split("\n")[0]
        turn = sum(isinstance(each, CallAnswer) for each in request.messages)
        note(self._log, f"{path} {turn}")
        await asyncio.sleep(0)
        if number == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self._hangs_at:
            await asyncio.Event().wait()
        if turn == 0 and path == self._busy:
            self._busy = ""
            raise ModelUnavailable("come back later", retry_after=0.01)
        if turn == 0:
            return call("read_file", path=path)
        if turn == 1:
            return call("write_file", path=f"{path}.out", content=f"seen {path}")
        if turn == 2 and path == self._sends:
            return call("send", to=path)
        if turn == 2 and path == self._lands:
            return call("land")
        return exit_with(label="good", path=f"{path} by {number}" if self._dies_at < 0 else path)


def note(log: Path, line: str) -> None:
    """Append a line, on the disk at once."""
    with log.open("a") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def session(order: Mapping[str, Any]) -> Session:
    """Return the session that an order asks for."""
    log = Path(order["log"])

    def send(to: str) -> str:
        """Send something away."""
        note(log, f"sent {to}")
        return "sent"

    def land() -> str:
        """Look at the disk itself."""
        names = sorted(path.name for path in Path(order["workspace"]).glob("*.out"))
        note(log, f"landed {' '.join(names)}")
        return "landed"

    agent = Microagent[Review](
        name="review",
        instructions=order.get("instructions", "Review the file."),
        inputs=Input,
        tools=[
            Tool.from_function(send, effect="external"),
            Tool.from_function(land, effect="read", needs_disk=True, idempotent=True),
            kit.tools(*order.get("tools", ("read_file", "write_file"))),
        ],
        model=Wire(
            log,
            sends=order.get("sends", ""),
            lands=order.get("lands", ""),
            busy=order.get("busy", ""),
            dies_at=order.get("dies_at", 0),
            hangs_at=order.get("hangs_at", 0),
            name=order.get("model_name", "wire"),
        ),
        idempotent=order.get("idempotent", False),
    )
    policy = Policy.from_dict({"mode": order.get("mode", "auto"), "rules": order.get("rules", [])})
    return Session(
        [agent, kit.tools()], workspace=order["workspace"], store=order["store"], policy=policy
    )


def told(result: RunResult) -> dict[str, Any]:
    """Return the facts about a run that tests look at."""
    return {
        "run_id": result.run_id,
        "status": result.status,
        "value": result.value,
        "error": result.error and result.error.message,
        "pending": [[each.id, each.tool] for each in result.pending],
        "calls": dict(result.usage.calls),
        "requests": {name: each.requests for name, each in result.usage.models.items()},
        "statuses": sorted({each.status for each in result.calls}),
        "changes": sorted(each.path for each in result.changes),
        "stages": {each.path: each.stage for each in result.changes},
    }


async def do(order: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an order says."""
    async with session(order) as host:
        if order["do"] == "run":
            return told(await host.run(order.get("script", SCRIPT)))
        if order["do"] == "call":
            called = await host.call("agents.review", {"path": "f1.md"}, seconds=order["seconds"])
            return {"run_id": called.run_id, "status": called.status}
        if order["do"] == "undo":
            undone = await host.undo(order["run_id"])
            return {"undone": sorted(each.path for each in undone)}
        given = {k: Answer(allow=v) for k, v in order.get("answers", {}).items()}
        return told(await host.resume(order["run_id"], given, repeat=order.get("repeat", ())))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(do(json.loads(sys.argv[1])))))
