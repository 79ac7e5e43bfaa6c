"""Validators of results that are at fault themselves: no model is told, and no turn is lost."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from lineshaft import kit
from lineshaft.agents import Budget, Microagent, VerifiedMicroagent
from lineshaft.errors import AgentError, ConfigError, ToolError
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import Context


def counter(validate: Any, *replies: Any) -> tuple[Microagent[int], ScriptedModel]:
    model = ScriptedModel(replies or [exit_with(7)])
    made = Microagent[int](
        name="count",
        instructions="Count.",
        model=model,
        validate=validate,
        tools=[kit.tools("write_file")],
    )
    return made, model


def raises(result: int) -> None:
    raise KeyError(f"no {result}")


def returns_what_is_no_reason(result: int) -> object:
    return object() if result else None


@pytest.mark.parametrize(
    ("validate", "told"),
    [
        (raises, "the validator raised KeyError: 'no 7' (line "),
        (returns_what_is_no_reason, "the validator returned what is no reason"),
    ],
)
async def test_a_fault_of_a_validator_ends_the_agent_and_its_changes(
    tmp_path: Path, validate: Any, told: str
) -> None:
    agent, model = counter(validate, call("write_file", path="a.md", content="x"), exit_with(7))
    with pytest.raises(AgentError, match="validator") as caught:
        await agent.run(text="x", workspace=tmp_path)
    assert caught.value.code == "E_AGENT_VALIDATOR"
    assert told in caught.value.message
    assert caught.value.hint
    assert len(model.requests) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "refusal",
    [
        ToolError("E_INVALID_RESULT", "it is even"),
        ValueError("it is even"),
        AssertionError("it is even"),
    ],
)
async def test_a_validator_refuses_by_an_error(tmp_path: Path, refusal: Exception) -> None:
    def odd(result: int) -> None:
        if result % 2 == 0:
            raise refusal

    agent, model = counter(odd, exit_with(8), exit_with(7))
    assert (await agent.run(text="x", workspace=tmp_path)).output == 7
    assert "it is even" in model.requests[1].messages[-1].text


def none_at_all() -> None: ...
def three(result: int, context: Context, more: int) -> None: ...
def named(*, result: int) -> None: ...


@pytest.mark.parametrize("validate", [none_at_all, three, named, "check", 3])
def test_what_cannot_be_called_with_a_result_is_told_at_once(validate: Any) -> None:
    with pytest.raises(ConfigError, match=r"agent 'count': validate is ") as caught:
        counter(validate)
    assert "def check(result)" in caught.value.hint


async def test_a_second_parameter_with_a_default_is_left_alone(tmp_path: Path) -> None:
    seen: list[object] = []

    def strict(result: int, least: int = 3) -> str | None:
        seen.append(least)
        return None if result > least else "more"

    def with_context(result: int, context: Context | None = None) -> None:
        seen.append(isinstance(context, Context))

    def all_of_them(*results: int) -> None:
        seen.append(results)

    for validate in (strict, with_context, all_of_them):
        agent, _ = counter(validate)
        await agent.run(text="x", workspace=tmp_path)
    assert seen == [3, True, (7,)]


@pytest.mark.parametrize("verify", [three, none_at_all, "check"])
def test_a_verifier_is_looked_at_when_its_agent_is_made(verify: Any) -> None:
    def made() -> VerifiedMicroagent[int]:
        return VerifiedMicroagent[int](name="count", instructions="Count.", verify=verify)

    if verify is three:  # a result, the inputs and a context
        assert made().name == "count"
        return
    with pytest.raises(ConfigError, match=r"agent 'count': verify is "):
        made()


def checked(result: int, inputs: object, _context: Context) -> str | None:
    return f"not {result} for {inputs}" if result == 1 else None


async def test_a_verifier_need_not_be_async(tmp_path: Path) -> None:
    model = ScriptedModel([exit_with(1), exit_with(2)])
    agent = VerifiedMicroagent[int](
        name="count", instructions="Count.", verify=checked, model=model
    )
    assert (await agent.run(text="x", workspace=tmp_path)).output == 2
    assert "not 1 for {'text': 'x'}" in model.requests[1].messages[-1].text


async def test_a_reason_without_words_is_told_as_a_refusal(tmp_path: Path) -> None:
    def wordless(result: int) -> str | None:
        return "" if result == 7 else None

    agent, model = counter(wordless, exit_with(7), exit_with(8))
    assert (await agent.run(text="x", workspace=tmp_path)).output == 8
    assert "it was refused" in model.requests[1].messages[-1].text


async def test_a_validator_that_waits_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    begun, others = threading.Event(), threading.Event()

    def waits(result: int) -> str | None:
        begun.set()
        return None if others.wait(10) else f"nobody else went on beside {result}"

    async def go_on() -> None:
        await asyncio.to_thread(begun.wait)
        others.set()

    agent, _ = counter(waits)
    async with asyncio.TaskGroup() as group:
        group.create_task(go_on())
        done = await agent.run(text="x", workspace=tmp_path)
    assert done.output == 7


async def test_a_validator_that_waits_ends_with_the_budget(tmp_path: Path) -> None:
    let_go = threading.Event()

    def waits(result: int) -> None:
        let_go.wait(10 + result)

    agent = Microagent[int](
        name="count",
        instructions="Count.",
        model=ScriptedModel([exit_with(7)]),
        validate=waits,
        budget=Budget(seconds=0.2),
    )
    try:
        with pytest.raises(AgentError, match=r"it used all 0\.2 seconds"):
            await agent.run(text="x", workspace=tmp_path)
    finally:
        let_go.set()
