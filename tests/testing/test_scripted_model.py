"""A model whose replies are written down."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest
from pydantic import BaseModel

from lineshaft.errors import ConfigError, ModelUnavailable
from lineshaft.models import Model, ModelReply, ModelRequest, TokenUsage, UserMessage
from lineshaft.testing import ScriptedModel, call, calls, exit_with, say


class Verdict(BaseModel):
    """What an agent gives."""

    label: str
    day: date


ASK = ModelRequest(messages=(UserMessage(text="What is it?"),))


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel([call("look", path="a"), say("I see."), exit_with("bug")])
    heard: list[str] = []
    assert isinstance(_as_model(model), ScriptedModel)
    replies = [await model.complete(ASK, on_text=heard.append) for _ in range(3)]
    assert [each.name for reply in replies for each in reply.calls] == ["look", "Exit"]
    assert json.loads(replies[2].calls[0].arguments) == {"result": "bug"}
    assert heard == ["I see."]
    assert model.requests == [ASK] * 3
    assert replies[0].usage.estimated
    assert replies[0].model == "scripted"


def _as_model(model: Model) -> Model:
    assert model.priced
    assert model.name == "scripted"
    return model


async def test_a_reply_may_be_made_of_the_request_or_be_an_error() -> None:
    used = TokenUsage(input_tokens=1, output_tokens=2, cost=0.5)

    def echo(request: ModelRequest) -> ModelReply:
        [message] = request.messages
        assert isinstance(message, UserMessage)
        return ModelReply(text=message.text, usage=used)

    model = ScriptedModel([echo, ModelUnavailable("later")], name="mine")
    reply = await model.complete(ASK)
    assert (reply.text, reply.usage, reply.model) == ("What is it?", used, "mine")
    with pytest.raises(ModelUnavailable):
        await model.complete(ASK)


async def test_a_request_too_many_says_what_was_asked() -> None:
    model = ScriptedModel([])
    with pytest.raises(AssertionError, match=r"has 0 replies.*What is it"):
        await model.complete(ASK)
    with pytest.raises(AssertionError, match="None"):
        await model.complete(ModelRequest(messages=()))


async def test_calls_may_be_malformed_and_several() -> None:
    reply = calls(("look", '{"path": '), ("Exit", {"result": 1}))
    assert [each.id for each in reply.calls] == ["call_1", "call_2"]
    assert reply.calls[0].arguments == '{"path": '
    assert json.loads(exit_with(label="bug").calls[0].arguments) == {"result": {"label": "bug"}}
    talk = (UserMessage(text="x" * 40), reply)
    usage = (await ScriptedModel([say("")]).complete(ModelRequest(messages=talk))).usage
    assert usage.input_tokens >= 10


def _of(conversation: str, turn: int) -> ModelRequest:
    return replace(ASK, agent="triage", conversation=conversation, turn=turn)


async def test_each_conversation_of_an_agent_begins_at_the_first_reply() -> None:
    replies = [say("1"), ModelUnavailable("later"), say("2"), say("3")]
    model = ScriptedModel({"triage": replies})

    async def told(conversation: str, turn: int) -> str:
        try:
            return (await model.complete(_of(conversation, turn))).text
        except ModelUnavailable:
            return "later"

    asked = [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 2), ("b", 2), ("a", 3)]
    assert [await told(*each) for each in asked] == ["1", "1", "later", "later", "2", "2", "3"]
    assert model.unused == {}
    with pytest.raises(AssertionError, match="has 4 replies for the agent 'triage'"):
        await model.complete(_of("a", 4))
    resumed = ScriptedModel({"triage": replies})
    assert (await resumed.complete(_of("a", 3))).text == "3"


def test_several_calls_are_made_of_replies_that_call_one() -> None:
    made = calls(call("look", path="a"), ("look", {"path": "b"}), calls(("x", "no JSON")))
    assert [(each.id, each.name, each.arguments) for each in made.calls] == [
        ("call_1", "look", '{"path": "a"}'),
        ("call_2", "look", '{"path": "b"}'),
        ("call_3", "x", "no JSON"),
    ]


def test_a_result_may_be_of_the_type_that_the_agent_gives() -> None:
    day = date(2030, 1, 2)
    assert exit_with(Verdict(label="bug", day=day)).calls[0].arguments == (
        '{"result": {"label": "bug", "day": "2030-01-02"}}'
    )
    assert exit_with(day=day).calls[0].arguments == '{"result": {"day": "2030-01-02"}}'


WRONG: dict[str, Callable[[], object]] = {
    "reply 2 is 'hello', no reply": lambda: ScriptedModel([exit_with("x"), "hello"]),  # pyright: ignore[reportArgumentType]  the point
    "replies must be a list of replies, not ModelReply(": lambda: ScriptedModel(say("x")),  # pyright: ignore[reportArgumentType, reportCallIssue]  the point
    "replies must be a list of replies, not 'hello'": lambda: ScriptedModel({"a": "hello"}),  # pyright: ignore[reportArgumentType]  the point
    "exit_with was given 'x' and fields": lambda: exit_with("x", why="y"),
}


@pytest.mark.parametrize("told", WRONG)
def test_what_is_no_reply_is_refused_where_it_is_written(told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        WRONG[told]()
    assert caught.value.message.startswith(told)
