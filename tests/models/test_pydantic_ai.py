"""Models of pydantic-ai: what the contract of all models does not say."""

import asyncio
from collections.abc import Awaitable, Callable

import anyio
import jsonschema
import pytest
from pydantic_ai import exceptions, messages
from pydantic_ai.models.function import AgentInfo, FunctionModel

from lineshaft.errors import ConfigError, ModelRefused, ModelUnavailable
from lineshaft.models import ModelPrice, ModelReply, ModelRequest, OfferedTool, UserMessage
from lineshaft.models.pydantic_ai import PydanticAIModel
from models.wire import KEY

LOOK = OfferedTool(
    name="look",
    description="Look.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}},
)
ASK = ModelRequest(messages=(UserMessage(text="What is it?"),), tools=(LOOK,))

Respond = Callable[[list[messages.ModelMessage], AgentInfo], Awaitable[messages.ModelResponse]]


def model(respond: Respond, price: ModelPrice | None = None) -> PydanticAIModel:
    function = FunctionModel(respond, model_name="tiny")
    return PydanticAIModel(function, price=price, secrets=[KEY])


def failing(error: Exception) -> PydanticAIModel:
    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        raise error

    return model(respond)


async def test_tools_are_offered_one_call_is_wanted_and_nothing_is_tried_again() -> None:
    seen: list[AgentInfo] = []

    async def respond(_: list[messages.ModelMessage], info: AgentInfo) -> messages.ModelResponse:
        seen.append(info)
        return messages.ModelResponse(parts=[messages.ToolCallPart("look", {"path": "x"})])

    one = model(respond)
    reply = await one.complete(ASK)
    await one.complete(ModelRequest(messages=ASK.messages, tools=(LOOK,), must_call=False))
    assert [call.arguments for call in reply.calls] == ['{"path": "x"}']
    assert reply.stop == "calls"
    assert [each.allow_text_output for each in seen] == [False, True]
    assert [tool.name for tool in seen[0].function_tools] == ["look"]
    assert seen[0].model_settings == {"max_retries": 0, "parallel_tool_calls": False}
    assert one.name == "function:tiny"


async def test_signed_reasoning_goes_back_as_it_came() -> None:
    thinking = messages.ThinkingPart("Hm.", signature="signed", provider_name="function")
    asked: list[list[messages.ModelMessage]] = []

    async def respond(talk: list[messages.ModelMessage], _: AgentInfo) -> messages.ModelResponse:
        asked.append(talk)
        call = messages.ToolCallPart("look", "{}", tool_call_id="a")
        return messages.ModelResponse(parts=[thinking, call])

    one = model(respond)
    reply = await one.complete(ASK)
    assert reply.text == ""
    further = (*ASK.messages, reply, UserMessage(text="Go on."))
    await one.complete(ModelRequest(messages=further, tools=(LOOK,)))
    said = asked[1][1]
    assert isinstance(said, messages.ModelResponse)
    assert said.parts[0] == thinking


async def test_parts_of_another_version_or_adapter_are_left_out() -> None:
    asked: list[list[messages.ModelMessage]] = []

    async def respond(talk: list[messages.ModelMessage], _: AgentInfo) -> messages.ModelResponse:
        asked.append(talk)
        return messages.ModelResponse(parts=[messages.TextPart("Yes.")])

    for part in ({"pydantic_ai": {"kind": "of old"}}, {"elsewhere": 1}):
        said = ModelReply(text="Hm.", parts=(part,))
        talk = (*ASK.messages, said, UserMessage(text="Go on."))
        await model(respond).complete(ModelRequest(messages=talk))
        assert [str(getattr(x, "content", "")) for x in asked[-1][1].parts] == ["Hm."]


async def test_as_a_schema_the_text_is_the_call() -> None:
    seen: list[AgentInfo] = []

    async def respond(_: list[messages.ModelMessage], info: AgentInfo) -> messages.ModelResponse:
        seen.append(info)
        text = '{"tool": "look", "arguments": {"path": "x"}}'
        return messages.ModelResponse(parts=[messages.TextPart(text)])

    request = ModelRequest(messages=ASK.messages, tools=(LOOK,), as_schema=True)
    reply = await model(respond).complete(request)
    assert [(call.name, call.arguments) for call in reply.calls] == [("look", '{"path": "x"}')]
    assert (reply.text, reply.stop) == ("", "calls")
    wanted = seen[0].model_request_parameters.output_object
    assert wanted is not None
    jsonschema.validate({"tool": "look", "arguments": {"path": "x"}}, wanted.json_schema)
    assert not seen[0].function_tools


async def test_the_cost_is_that_of_a_price() -> None:
    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        return messages.ModelResponse(parts=[messages.TextPart("Yes.")])

    one = model(respond, ModelPrice(input=1.0, output=1.0))
    assert one.priced
    cost = (await one.complete(ASK)).usage.cost
    assert cost is not None
    assert cost > 0
    assert not model(respond).priced
    assert (await model(respond).complete(ASK)).usage.cost is None


async def test_an_error_tells_what_the_provider_said_and_no_key() -> None:
    body = {"error": {"message": f"wrong key {KEY}"}}
    with pytest.raises(ModelRefused, match=r"401 wrong key \*\*\*$"):
        await failing(exceptions.ModelHTTPError(401, "tiny", body)).complete(ASK)
    with pytest.raises(ModelUnavailable) as caught:
        await failing(exceptions.ModelHTTPError(500, "tiny", KEY + "x" * 9_000)).complete(ASK)
    assert len(caught.value.message) < 600
    assert KEY not in caught.value.message


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (exceptions.ModelConnectionError("tiny", "cut off"), ModelUnavailable),
        (exceptions.UnexpectedModelBehavior("no choices"), ModelUnavailable),
        (exceptions.ModelQuotaExceededError("tiny", "no money"), ModelRefused),
        (exceptions.ContentFilterError("no"), ModelRefused),
        (exceptions.UserError("no images"), ModelRefused),
        (ConnectionResetError("gone"), ModelUnavailable),
        (ValueError("no JSON"), ModelUnavailable),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else "",
)
async def test_other_errors_are_of_the_two_kinds(
    error: Exception, wanted: type[ModelRefused | ModelUnavailable]
) -> None:
    with pytest.raises(wanted, match="function:tiny answered: "):
        await failing(error).complete(ASK)


async def test_an_answer_that_ended_with_an_error_is_none() -> None:
    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        return messages.ModelResponse(parts=[messages.TextPart("Ye")], finish_reason="error")

    with pytest.raises(ModelUnavailable, match="ended its answer with an error"):
        await model(respond).complete(ASK)


async def test_a_request_is_given_up_or_cancelled_and_its_provider_hears_of_it() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    request = ModelRequest(messages=ASK.messages, tools=(LOOK,), seconds=0.05)
    with pytest.raises(ModelUnavailable, match=r"within 0\.05 s"):
        await model(respond).complete(request)
    assert ended.is_set()
    started.clear()
    ended.clear()
    async with anyio.create_task_group() as group:
        group.start_soon(model(respond).complete, ASK)
        await started.wait()
        group.cancel_scope.cancel()
    assert ended.is_set()


def test_a_client_whose_retries_cannot_be_turned_off_is_refused() -> None:
    class Eager(FunctionModel):
        unsupported_settings = frozenset({"max_retries"})

    async def respond(_: list[messages.ModelMessage], __: AgentInfo) -> messages.ModelResponse:
        raise AssertionError

    with pytest.raises(ConfigError, match="tries again by itself"):
        PydanticAIModel(Eager(respond))
