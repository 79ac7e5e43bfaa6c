"""A session of agents that work by scripts, for tests that end its process.

Run as a program it takes an order as JSON, does it, and prints what there was as JSON.
"""

import asyncio
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from agents.reviewers import note, told
from lineshaft import Answer, Policy, Session, Tool, kit
from lineshaft.agents import Microagent
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import call, exit_with

PROGRAM = """
import random, time, uuid
path = args[0]
before = [random.random(), time.time(), time.monotonic(), str(uuid.uuid4())]
await tell(path, str(before))
order = [await each for each in asyncio.as_completed([look(path, "slow"), look(path, "quick")])]
await write_file(f"{path}.out", " ".join(order))
gathered = await asyncio.gather(send(path, "once"), look(path, "beside"))
await look(path, "late")
again = await send(path, "twice")
print(before, random.random())
return [order, gathered, again, (await read_file(f"{path}.out"))["content"]]
"""

ONE = "return await agents.work(path='f1.md')"
TWO = """
return await asyncio.gather(agents.work(path='f1.md'), agents.work(path='f2.md'))
"""


class Input(TypedDict):
    """What an agent works on."""

    path: str


class ScriptWriter:
    """A model that has one script executed and exits with its answer; each request is noted.

    Args:
        log: The file of these lines.
        program: The script.
        dies_at: The turn in the middle of which the process ends.
    """

    name = "script-writer"
    priced = True

    def __init__(self, log: Path, program: str, *, dies_at: int = -1) -> None:
        self._log = log
        self._program = program
        self._dies_at = dies_at

    async def complete(self, request: ModelRequest, *, on_text: object = None) -> ModelReply:
        """As `Model.complete`."""
        del on_text
        path = request.messages[0].text.split("text\n")[1].split("\n")[0]
        answers = [each for each in request.messages if isinstance(each, CallAnswer)]
        note(self._log, f"{path} turn {len(answers)}")
        if len(answers) == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if not answers:
            return call("run_script", code=self._program, args=[path])
        return exit_with(answers[0].text)


def session(order: Mapping[str, Any]) -> Session:
    """Return the session that an order asks for."""
    log = Path(order["log"])
    quick: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def send(path: str, what: str) -> str:
        """Send something away."""
        note(log, f"{path} sent {what}")
        return f"sent {what}"

    async def look(path: str, what: str) -> str:
        """Look at something; what is slow ends after what is quick."""
        note(log, f"{path} looked {what}")
        if what == "slow":
            await quick[path].wait()
        if what == "quick":
            quick[path].set()
        if what == order.get("dies_in"):
            os.kill(os.getpid(), signal.SIGKILL)
        return what

    def tell(path: str, text: str) -> None:
        """Note what the script took from clocks and random numbers."""
        note(log, f"{path} told {text}")

    own = [
        Tool.from_function(send, effect="external"),
        Tool.from_function(look, effect="read"),
        Tool.from_function(tell, effect="read"),
    ]
    agent = Microagent[str](
        name="work",
        instructions="Work on the file.",
        inputs=Input,
        tools=[*own, kit.tools("read_file", "write_file")],
        model=ScriptWriter(log, order.get("program", PROGRAM), dies_at=order.get("dies_at", -1)),
        scripts=True,
        idempotent=True,
    )
    policy = Policy.from_dict({"mode": "auto", "rules": order.get("rules", [])})
    return Session(
        [agent, kit.tools()], workspace=order["workspace"], store=order["store"], policy=policy
    )


async def do(order: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an order says."""
    async with session(order) as host:
        if order["do"] == "run":
            return told(await host.run(order.get("script", ONE)))
        if order["do"] == "call":
            done = await host.call("agents.work", {"path": "f1.md"})
            return {"run_id": done.run_id, "pending": [each.tool for each in done.pending]}
        if order["do"] == "replay":
            replay = await host.replay(order["run_id"])
            return {"difference": replay.difference and replay.difference.message}
        given = {k: Answer(allow=v) for k, v in order.get("answers", {}).items()}
        return told(await host.resume(order["run_id"], given, repeat=order.get("repeat", ())))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(do(json.loads(sys.argv[1])))))
