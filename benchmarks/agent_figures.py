"""Turns of a microagent beside those of pydantic-ai's agent, on the same answers at once."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from lineshaft import Policy, Session, Tool
from lineshaft.agents import Budget, Microagent
from lineshaft.models import ModelReply, ModelRequest, OnText
from lineshaft.testing import call, exit_with

Figure = tuple[str, float, float]
"""A name, and the milliseconds of both."""

TURNS = (10, 50, 100)
AGENTS = 20


def look(number: int) -> int:
    """Return a number."""
    return number


class Counting:
    """A model that calls `look` with 1, 2, 3, ... and exits in its last turn.

    Args:
        turns: Its replies in all.
    """

    name = "counting"
    priced = True

    def __init__(self, turns: int) -> None:
        self._turns = turns

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """As `Model.complete`."""
        del on_text
        turn = (len(request.messages) + 1) // 2
        return exit_with(turn) if turn >= self._turns else call("look", number=turn)


def of_pydantic_ai(turns: int) -> Agent[None, int]:
    """Return pydantic-ai's agent on the same answers."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = (len(messages) + 1) // 2
        if turn < turns:
            return ModelResponse(parts=[ToolCallPart("look", {"number": turn})])
        [final] = info.output_tools
        return ModelResponse(parts=[ToolCallPart(final.name, {"response": turn})])

    return Agent(FunctionModel(answer), output_type=int, tools=[look])


def ours(turns: int) -> Microagent[int]:
    """Return a microagent on these answers."""
    return Microagent[int](
        name=f"counter{turns}",
        instructions="Count.",
        tools=[Tool.from_function(look, effect="read")],
        model=Counting(turns),
        budget=Budget(turns=1_000, calls=1_000, tokens=1_000_000_000),
    )


async def figures(repeats: int) -> list[Figure]:
    """Return rows: a turn at several lengths, and agents side by side."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        agents, policy = [ours(turns) for turns in TURNS], Policy(mode="open")
        async with Session(agents, workspace=folder, policy=policy, store=store) as session:
            rows = [await _turns(session, turns, repeats) for turns in TURNS]
            rows.append(await _side_by_side(session, repeats))
    return rows


async def _turns(session: Session, turns: int, repeats: int) -> Figure:
    """Return the time of one turn, for an agent with so many."""
    theirs, limits = of_pydantic_ai(turns), UsageLimits(request_limit=None)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats + 1):
        start = time.perf_counter()
        await theirs.run("x", usage_limits=limits)
        times[0].append(time.perf_counter() - start)
        start = time.perf_counter()
        (await session.run(f"return await agents.counter{turns}(text='x')")).raise_for_status()
        times[1].append(time.perf_counter() - start)
    name = f"a turn of an agent with {turns}, log, ms"
    bare, own = (statistics.median(each[1:]) * 1000 / turns for each in times)
    return name, bare, own


async def _side_by_side(session: Session, repeats: int) -> Figure:
    """Return the time of agents with ten turns each, all at once."""
    theirs = of_pydantic_ai(TURNS[0])
    script = (
        f"found = [agents.counter{TURNS[0]}(text=str(n)) for n in range({AGENTS})]\n"
        "return sum(await asyncio.gather(*found))"
    )
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats + 1):
        start = time.perf_counter()
        await asyncio.gather(*[theirs.run(str(n)) for n in range(AGENTS)])
        times[0].append(time.perf_counter() - start)
        start = time.perf_counter()
        (await session.run(script)).raise_for_status()
        times[1].append(time.perf_counter() - start)
    bare, own = (statistics.median(each[1:]) * 1000 for each in times)
    return f"{AGENTS} agents of {TURNS[0]} turns at once, log, ms", bare, own
