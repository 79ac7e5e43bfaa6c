"""A conversation that a later run goes on with, as providers are sent it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic_ai import messages
from pydantic_ai.models.function import AgentInfo, FunctionModel

from lineshaft import kit
from lineshaft.agents import Budget, Microagent
from lineshaft.errors import AgentError
from lineshaft.models import CallAnswer, Message
from lineshaft.models.openai import OpenAICompatible
from lineshaft.models.pydantic_ai import PydanticAIModel
from lineshaft.testing import Scripted, ScriptedModel, call, calls, exit_with
from models.wire import answer, completion, requested, serving

_LOOKS = calls(("list_files", {}), ("read_file", {"path": "a.md"}), ("list_files", {}))

_ENDS = pytest.mark.parametrize(
    ("replies", "names"),
    [
        ([exit_with("one")], ["Exit"]),
        ([call("list_files"), exit_with("one")], ["list_files", "Exit"]),
        ([call("GiveUp", reason="for now")], ["GiveUp"]),
        ([exit_with(1)], ["Exit"]),
        ([_LOOKS], ["list_files", "read_file", "list_files"]),
    ],
    ids=["at-once", "after-a-call", "gave-up", "refused", "calls-used-up"],
)


def _agent() -> Microagent[str]:
    tools = kit.tools("list_files", "read_file")
    budget = Budget(calls=1, failed_exits=1)
    return Microagent[str](name="x", instructions="Do it.", tools=[tools], budget=budget)


async def _history(replies: Sequence[Scripted], folder: Path) -> Sequence[Message]:
    try:
        end = await _agent().run(text="t", model=ScriptedModel(replies), workspace=folder)
    except AgentError as error:
        return error.history
    return end.messages


@_ENDS
async def test_openai_is_sent_an_answer_for_each_call_of_a_history(
    tmp_path: Path, replies: list[Scripted], names: list[str]
) -> None:
    history = await _history(replies, tmp_path)
    done = completion(tool_calls=[requested("Exit", '{"result": "two"}', id="last")])
    async with serving([answer(done)]) as wire:
        model = OpenAICompatible("tiny", base_url=wire.url)
        end = await _agent().run(text="u", model=model, workspace=tmp_path, history=history)
        await _agent().run(text="v", model=model, workspace=tmp_path, history=end.messages)
    first, second = (each.body["messages"] for each in wire.sent)
    asked = [each for said in first for each in said.get("tool_calls", ())]
    assert [each["function"]["name"] for each in asked] == names
    for sent in (first, second):
        for at, said in enumerate(sent):
            ids = [each["id"] for each in said.get("tool_calls", ())]
            told = sent[at + 1 : at + 1 + len(ids)]
            assert [each.get("tool_call_id") for each in told] == ids
    assert first[-1]["role"] == second[-1]["role"] == "user"


@_ENDS
async def test_pydantic_ai_is_sent_an_answer_for_each_call_of_a_history(
    tmp_path: Path, replies: list[Scripted], names: list[str]
) -> None:
    sent: list[messages.ModelMessage] = []

    async def respond(talk: list[messages.ModelMessage], _: AgentInfo) -> messages.ModelResponse:
        sent.extend(talk)
        return messages.ModelResponse(parts=[messages.ToolCallPart("Exit", {"result": "two"})])

    history = await _history(replies, tmp_path)
    model = PydanticAIModel(FunctionModel(respond, model_name="tiny"))
    await _agent().run(text="u", model=model, workspace=tmp_path, history=history)
    asked = [each for each in sent for each in each.parts if each.part_kind == "tool-call"]
    told = [each for each in sent for each in each.parts if each.part_kind == "tool-return"]
    assert [each.tool_name for each in asked] == names
    assert [each.tool_call_id for each in told] == [each.tool_call_id for each in asked]


async def test_a_call_that_was_not_made_is_told_as_failed_and_an_answer_is_kept(
    tmp_path: Path,
) -> None:
    history = await _history([_LOOKS], tmp_path)
    model = ScriptedModel([exit_with("two")])
    end = await _agent().run(text="u", model=model, workspace=tmp_path, history=history)
    made, *others = (each for each in end.messages if isinstance(each, CallAnswer))
    assert made in history
    assert [(each.name, each.failed) for each in others] == [
        ("read_file", True),
        ("list_files", True),
    ]
