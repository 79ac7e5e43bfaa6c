"""A host in a process of its own: runs or resumes one script, says how it went, and may linger.

Its one argument is an order as JSON; it prints one line of JSON for each thing it has done. What
its tools really did is in a log file, which no session knows of.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lineshaft import Answer, Limits, Policy, Session, Tool, kit
from lineshaft.errors import LineshaftError
from lineshaft.values import Call, Dispatch, Done
from lineshaft.workspace.journal import failpoints

FIRST_DEEDS = 1
RULES = [
    {"id": "ask-poke", "tool": "poke", "verdict": "ask", "reason": "it pokes"},
    {"id": "ask-write", "tool": "write_file", "path": "asked/**", "verdict": "ask"},
]


def tools(log: Path) -> list[Tool]:
    """Return tools whose deeds are lines of a log."""

    def did(what: str) -> int:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, f"{what}\n".encode())
        finally:
            os.close(descriptor)
        return log.read_text("utf-8").splitlines().count(what)

    async def poke(what: str) -> str:
        """Poke something."""
        did(f"poke {what}")
        return f"poked {what}"

    async def note(what: str) -> str:
        """Note something, without a question."""
        did(f"note {what}")
        return f"noted {what}"

    async def look(what: str) -> str:
        """Look at something; nothing else."""
        did(f"look {what}")
        return f"saw {what}"

    async def hang(what: str) -> str:
        """Begin something and never end it."""
        did(f"hang {what}")
        await asyncio.sleep(3_600)
        return what

    async def hang_once(what: str) -> str:
        """Begin something and not end it the first time; may be done again."""
        if did(f"hang_once {what}") <= FIRST_DEEDS:
            await asyncio.sleep(3_600)
        return f"done {what}"

    async def hang_plain(what: str) -> str:
        """Begin something and not end it the first time."""
        if did(f"hang_plain {what}") <= FIRST_DEEDS:
            await asyncio.sleep(3_600)
        return f"done {what}"

    return [
        Tool.from_function(poke, effect="external"),
        Tool.from_function(note, effect="external", lane=None),
        Tool.from_function(look, effect="read"),
        Tool.from_function(hang, effect="external"),
        Tool.from_function(hang_plain, effect="external"),
        Tool.from_function(hang_once, effect="external", idempotent=True),
    ]


def die() -> None:
    """End this process as a loss of power would."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(deed: str) -> Callable[[Dispatch], Dispatch]:
    """Return middleware that ends the process when a call has ended and nobody knows yet."""

    def around(inner: Dispatch) -> Dispatch:
        async def dispatch(call: Call) -> Done:
            done = await inner(call)
            if f"{call.tool} {call.arguments.get('what')}" == deed:
                die()
            return done

        return dispatch

    return around


def session(order: dict[str, Any]) -> Session:
    """Return the session that an order asks for."""
    if "dies_at" in order:
        failpoints.at_each_step(lambda step: die() if step == order["dies_at"] else None)
    rules = order.get("rules", RULES)
    return Session(
        [*tools(Path(order["log"])), kit.tools()],
        workspace=order["workspace"],
        policy=Policy.from_dict({"mode": "open", "rules": rules}),
        engine=order["engine"],
        store=order["store"],
        limits=Limits(**order.get("limits", {})),
        middleware=[dying_after(order["dies_after"])] if "dies_after" in order else [],
    )


def say(what: object) -> None:
    """Tell whoever started this process, at once."""
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


async def carry_out(order: dict[str, Any]) -> None:
    """Do what is asked for."""
    async with session(order) as host:
        try:
            if order["do"] == "runs":
                assert host.store is not None
                say([asdict(run) for run in await host.store.runs()])
                return
            if order["do"] == "undecided":
                say(await host.undecided(order["run_id"]))
                return
            if order["do"] == "run":
                done = await host.run(order["script"], inputs=order.get("inputs"))
            else:
                answers = {i: Answer(**a) for i, a in order.get("answers", {}).items()}
                done = await host.resume(order["run_id"], answers, repeat=order.get("repeat", ()))
        except LineshaftError as error:
            say({"raised": error.code, "message": error.message})
            return
        say(done.to_dict())
        if order.get("linger"):
            await asyncio.sleep(3_600)


if __name__ == "__main__":
    asyncio.run(carry_out(json.loads(sys.argv[1])))
