"""The time of a request to a model: what it waits for a slot is not part of it."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from pydantic_ai import messages
from pydantic_ai.models.function import AgentInfo, FunctionModel

from lineshaft.agents import Budget, Microagent
from lineshaft.models import ModelReply, ModelRequest, OnText, UserMessage
from lineshaft.models.pydantic_ai import PydanticAIModel
from lineshaft.testing import exit_with

Jump = Callable[[float], None]


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Return what puts all clocks forward by some seconds."""
    real, ahead = time.monotonic, 0.0

    def put_forward(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(time, "monotonic", lambda: real() + ahead)
    return put_forward


def _agent() -> Microagent[str]:
    return Microagent[str](name="x", instructions="Do it.", budget=Budget(seconds=1e9))


class _Announced:
    """A model that says when it is asked, before the model behind it is."""

    name = "announced"
    priced = False

    def __init__(self, behind: PydanticAIModel) -> None:
        self._behind = behind
        self.asked = anyio.Event()

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """Say so, and ask."""
        self.asked.set()
        return await self._behind.complete(request, on_text=on_text)


async def test_a_request_that_waits_long_for_its_slot_is_made_once(
    tmp_path: Path, jump: Jump
) -> None:
    holds, goes_on, made = anyio.Event(), anyio.Event(), 0

    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        nonlocal made
        made += 1
        holds.set()
        await goes_on.wait()
        return messages.ModelResponse(parts=[messages.ToolCallPart("Exit", {"result": "x"})])

    async def run() -> None:
        result = await _agent().run(text="t", model=model, workspace=tmp_path, store=False)
        ended.append((result.output, result.usage.requests))

    ended: list[tuple[str, int]] = []
    behind = PydanticAIModel(FunctionModel(respond, model_name="tiny"), concurrency=1)
    model = _Announced(behind)
    first = ModelRequest(messages=(UserMessage(text="Hold the slot."),), seconds=1e6)
    async with anyio.create_task_group() as group:
        group.start_soon(behind.complete, first)
        await holds.wait()
        group.start_soon(run)
        await model.asked.wait()
        later = anyio.Event()
        asyncio.get_running_loop().call_later(1_000, later.set)
        jump(2_000)
        await later.wait()
        for _ in range(50):  # what was cancelled would be so by now
            await anyio.lowlevel.checkpoint()
        goes_on.set()
    assert (*ended, made) == (("x", 1), 2)


class _Hanging:
    """A model without a clock, whose first request never ends."""

    name = "hanging"
    priced = False

    def __init__(self) -> None:
        self.asked = 0
        self.waits = anyio.Event()

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """Answer the second request."""
        del request, on_text
        self.asked += 1
        if self.asked == 1:
            self.waits.set()
            await anyio.sleep_forever()
        return exit_with("x")


async def test_a_model_without_a_clock_is_given_up_and_asked_again(
    tmp_path: Path, jump: Jump
) -> None:
    model = _Hanging()
    run = asyncio.create_task(_agent().run(text="t", model=model, workspace=tmp_path, store=False))
    await model.waits.wait()
    jump(400)
    result = await run
    assert (result.output, result.usage.requests) == ("x", 2)
