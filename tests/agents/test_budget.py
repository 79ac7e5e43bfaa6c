"""Budgets: what is refused at once, and when one is used up."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest

from lineshaft import Answer, Pending, Session, tool
from lineshaft.agents import AgentUsage, Budget, Microagent
from lineshaft.errors import ConfigError
from lineshaft.models import TokenUsage
from lineshaft.testing import ScriptedModel, call, exit_with


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"turns": 0}, "turns must be a whole number above 0, not 0"),
        ({"calls": -1}, "calls"),
        ({"tokens": 1.5}, "tokens must be a whole number"),
        ({"failed_exits": True}, "failed_exits"),
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"cost": -0.1}, "cost"),
        ({"cost": "1"}, "cost"),
    ],
)
def test_a_budget_that_allows_nothing_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Budget(**given)


def test_a_budget_is_used_up_by_whichever_is_first() -> None:
    budget = Budget(turns=3, tokens=100, cost=0.5)
    usage = AgentUsage(turns=2)
    usage.take(TokenUsage(input_tokens=40, output_tokens=59))
    assert (usage.spent(budget), usage.cost, usage.estimated) == ("", None, False)
    usage.take(TokenUsage(input_tokens=1, cached_tokens=1, estimated=True, cost=0.1))
    assert (usage.spent(budget), usage.cost) == ("all 100 tokens", 0.1)
    assert (usage.cached_tokens, usage.estimated) == (1, True)
    usage.take(TokenUsage(cost=0.4))
    assert usage.spent(Budget(cost=0.5)) == "all of its 0.5 dollars"
    usage.turns = 3
    assert usage.spent(budget) == "all 3 turns"


@pytest.mark.parametrize("script", [False, True])
async def test_the_seconds_stand_still_while_a_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, script: bool
) -> None:
    real, later = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: real() + later)

    @tool(effect="external")
    async def act() -> str:
        """Act on something outside."""
        return "done"

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        nonlocal later
        later += 1_000  # a person had lunch
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        return {each.id: Answer(allow=True) for each in pending}

    agent = Microagent[str](
        name="worker",
        instructions="Act.",
        tools=[act],
        model=ScriptedModel([call("act"), exit_with("acted")]),
        budget=Budget(seconds=900),
    )
    async with Session([agent], workspace=tmp_path, approver=approver, store=False) as session:
        if script:
            result = await session.run("return await agents.worker(text='go')")
        else:
            result = await session.call("agents.worker", {"text": "go"})
    assert (result.value, result.error) == ("acted", None)
    assert later == 1_000


async def test_the_seconds_go_on_while_its_tools_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, later = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: real() + later)

    @tool(effect="read")
    async def work() -> str:
        """Work for long."""
        nonlocal later
        later += 20
        await anyio.sleep_forever()
        raise AssertionError

    agent = Microagent[str](
        name="worker",
        instructions="Work.",
        tools=[work],
        model=ScriptedModel([call("work")]),
        budget=Budget(seconds=10),
    )
    async with Session([agent], workspace=tmp_path, store=False) as session:
        result = await session.call("agents.worker", {"text": "go"})
    assert result.error is not None
    assert (result.error.code, "all 10 seconds" in result.error.message) == (
        "E_AGENT_BUDGET",
        True,
    )
