"""What holds for every model, whatever is behind it."""

from collections.abc import Callable

import anyio
import pytest

from lineshaft.errors import ModelRefused, ModelUnavailable
from lineshaft.models import (
    CallAnswer,
    ImagePart,
    ModelReply,
    ModelRequest,
    OfferedTool,
    RequestedCall,
    TokenUsage,
    UserMessage,
)
from models.contract.adapters import ByPydanticAI, ByScript, OverHttp

LOOK = OfferedTool(
    name="look",
    description="Look.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}},
)
ASK = ModelRequest(messages=(UserMessage(text="What is it?"),), tools=(LOOK,))
CALL = RequestedCall(id="a", name="look", arguments='{"path": "x"}')
OTHER = RequestedCall(id="b", name="look", arguments='{"path": "y"}')
BROKEN = RequestedCall(id="c", name="nothing", arguments='{"path": ')

Adapter = Callable[[], OverHttp | ByPydanticAI | ByScript]
every = pytest.mark.parametrize("adapter", [OverHttp, ByPydanticAI, ByScript])


@every
@pytest.mark.parametrize(
    "said",
    [
        ModelReply(calls=(CALL,), stop="calls"),
        ModelReply(text="I look.", calls=(CALL, OTHER), stop="calls"),
        ModelReply(calls=(BROKEN,), stop="calls"),
        ModelReply(text="Only words."),
        ModelReply(),
        ModelReply(text="Cut", stop="length"),
        ModelReply(calls=(BROKEN,), stop="length"),
        ModelReply(stop="filter"),
    ],
    ids=["call", "calls", "malformed", "text", "nothing", "cut", "cut call", "filtered"],
)
async def test_a_reply_is_as_the_model_wrote_it(adapter: Adapter, said: ModelReply) -> None:
    async with adapter().serve([said]) as provider:
        reply = await provider.model.complete(ASK)
    assert (reply.text, reply.calls, reply.stop) == (said.text, said.calls, said.stop)
    assert reply.model


@every
async def test_usage_is_as_told(adapter: Adapter) -> None:
    used = TokenUsage(input_tokens=100, output_tokens=7, cached_tokens=40)
    async with adapter().serve([ModelReply(text="a", usage=used)]) as provider:
        told = (await provider.model.complete(ASK)).usage
    assert (told.input_tokens, told.output_tokens, told.cached_tokens) == (100, 7, 40)
    assert not told.estimated


@every
async def test_usage_that_is_not_told_is_estimated(adapter: Adapter) -> None:
    async with adapter().serve([ModelReply(text="a word or two")]) as provider:
        usage = (await provider.model.complete(ASK)).usage
    assert usage.estimated
    assert usage.input_tokens > 0
    assert usage.output_tokens == 3


@every
async def test_images_of_users_and_answers_reach_the_model(adapter: Adapter) -> None:
    one, two = (ImagePart(data=data, media_type="image/png") for data in (b"\x89one", b"\x89two"))
    talk = (
        UserMessage(text="Look.", images=(one,)),
        ModelReply(calls=(CALL,), stop="calls"),
        CallAnswer(id="a", name="look", text="a picture", images=(two,)),
    )
    async with adapter().serve([ModelReply(text="Seen.")]) as provider:
        reply = await provider.model.complete(ModelRequest(messages=talk, tools=(LOOK,)))
        assert provider.images() == [one.data, two.data]
    assert reply.text == "Seen."


@every
async def test_a_conversation_goes_on_after_what_went_wrong_in_it(adapter: Adapter) -> None:
    talk = (
        *ASK.messages,
        ModelReply(calls=(CALL, BROKEN), stop="calls"),
        CallAnswer(id="a", name="look", text="found"),
        CallAnswer(id="c", name="nothing", text="there is no such tool", failed=True),
        UserMessage(text="Go on."),
        ModelReply(),
        UserMessage(text="Call a tool."),
    )
    async with adapter().serve([ModelReply(calls=(OTHER,), stop="calls")]) as provider:
        reply = await provider.model.complete(ModelRequest(messages=talk, tools=(LOOK,)))
    assert reply.calls == (OTHER,)


@every
async def test_the_text_is_told_while_it_comes(adapter: Adapter) -> None:
    heard: list[str] = []
    async with adapter().serve([ModelReply(text="All of it.")]) as provider:
        await provider.model.complete(ASK, on_text=heard.append)
    assert "".join(heard) == "All of it."


@every
@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_what_stays_refused_is_refused(adapter: Adapter, status: int) -> None:
    async with adapter().serve([(status, None)]) as provider:
        with pytest.raises(ModelRefused, match=str(status)):
            await provider.model.complete(ASK)


@every
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_what_may_pass_says_how_long_to_wait(adapter: Adapter, status: int) -> None:
    async with adapter().serve([(status, 7.0), (status, None)]) as provider:
        for wait in (7.0, None):
            with pytest.raises(ModelUnavailable, match=str(status)) as caught:
                await provider.model.complete(ASK)
            assert caught.value.retry_after == wait


@every
async def test_requests_at_once_all_get_their_replies(adapter: Adapter) -> None:
    replies: list[ModelReply] = []
    async with adapter().serve([ModelReply(calls=(CALL,), stop="calls")]) as provider:

        async def ask() -> None:
            replies.append(await provider.model.complete(ASK))

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(ask)
    assert [reply.calls for reply in replies] == [(CALL,)] * 10
