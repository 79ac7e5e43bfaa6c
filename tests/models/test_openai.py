"""OpenAI's chat completions, over HTTP to a server that records the wire."""

import asyncio
import base64
import gzip
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypedDict

import anyio
import jsonschema
import pytest

from lineshaft.errors import ConfigError, ModelError, ModelRefused, ModelUnavailable
from lineshaft.models import (
    CallAnswer,
    ImagePart,
    ModelPrice,
    ModelReply,
    ModelRequest,
    OfferedTool,
    RequestedCall,
    UserMessage,
)
from lineshaft.models.openai import OpenAICompatible
from models.wire import KEY, Json, Wire, answer, completion, piece, requested, serving, stream

EXIT = OfferedTool(
    name="Exit",
    description="End.",
    input_schema={
        "type": "object",
        "properties": {"result": {"$ref": "#/$defs/Kind"}},
        "required": ["result"],
        "$defs": {"Kind": {"enum": ["bug", "question"]}},
    },
)
LOOK = OfferedTool(
    name="look",
    description="Look.",
    input_schema={"type": "object", "properties": {"path": {"type": "string"}}},
)
ASK = ModelRequest(messages=(UserMessage(text="What is it?"),), tools=(EXIT, LOOK))
DONE = answer(completion(tool_calls=[requested("Exit", '{"result": "bug"}')]))


class Given(TypedDict, total=False):
    """What a request is sent with."""

    api_key: str
    headers: dict[str, str]


def model(wire: Wire, **settings: Any) -> OpenAICompatible:
    return OpenAICompatible("tiny", base_url=wire.url, api_key=KEY, **settings)


async def test_a_call_comes_back_and_the_wire_is_as_the_protocol_says() -> None:
    async with serving([DONE]) as wire:
        reply = await model(wire).complete(ASK)
    assert reply.calls == (RequestedCall(id="c1", name="Exit", arguments='{"result": "bug"}'),)
    assert (reply.stop, reply.model, reply.text) == ("calls", "tiny-2026", "")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 7)
    assert not reply.usage.estimated
    [sent] = wire.sent
    assert sent.head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert f"bearer {KEY}" in sent.head.lower().replace(KEY.lower(), KEY)
    body = sent.body
    assert (body["model"], body["tool_choice"], body["parallel_tool_calls"]) == (
        "tiny",
        "required",
        False,
    )
    assert [each["function"]["name"] for each in body["tools"]] == ["Exit", "look"]
    assert body["messages"] == [{"role": "user", "content": "What is it?"}]
    assert "stream" not in body


async def test_a_conversation_goes_back_as_it_was() -> None:
    image = ImagePart(data=b"\x89PNG", media_type="image/png")
    talk = (
        UserMessage(text="Look.", images=(image,)),
        ModelReply(
            text="I look.",
            calls=(
                RequestedCall(id="a", name="look", arguments='{"path": "x"}'),
                RequestedCall(id="b", name="look", arguments='{"path": '),
            ),
        ),
        CallAnswer(id="a", name="look", text="a picture", images=(image,)),
        CallAnswer(id="b", name="look", text="no JSON", failed=True),
        UserMessage(text="Go on."),
        ModelReply(),
    )
    async with serving([DONE]) as wire:
        await model(wire).complete(ModelRequest(messages=talk, tools=(LOOK,), must_call=False))
    body = wire.sent[0].body
    url = "data:image/png;base64," + base64.b64encode(image.data).decode()
    shown = {"type": "image_url", "image_url": {"url": url}}
    first, said, one, other, pictures, further, empty = body["messages"]
    assert first["content"] == [{"type": "text", "text": "Look."}, shown]
    assert [each["function"]["arguments"] for each in said["tool_calls"]] == [
        '{"path": "x"}',
        '{"malformed": "{\\"path\\": "}',
    ]
    assert (one["role"], one["tool_call_id"], one["content"]) == ("tool", "a", "a picture")
    assert (other["tool_call_id"], other["content"]) == ("b", "no JSON")
    assert pictures["content"][1] == shown
    assert further == {"role": "user", "content": "Go on."}
    assert empty == {"role": "assistant", "content": ""}
    assert body["tool_choice"] == "auto"


async def test_as_a_schema_the_text_is_the_call() -> None:
    text = '{"tool": "Exit", "arguments": {"result": "bug"}}'
    talk = (
        UserMessage(text="Look."),
        ModelReply(calls=(RequestedCall(id="a", name="look", arguments='{"path": "x"}'),)),
        CallAnswer(id="a", name="look", text="found"),
    )
    request = ModelRequest(messages=talk, tools=(EXIT, LOOK), as_schema=True)
    async with serving([answer(completion(content=text))]) as wire:
        reply = await model(wire).complete(request)
    assert reply.calls == (RequestedCall(id="call_0", name="Exit", arguments='{"result": "bug"}'),)
    assert (reply.text, reply.stop) == ("", "calls")
    body = wire.sent[0].body
    assert "tools" not in body
    assert "tool_choice" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"tool": "Exit", "arguments": {"result": "bug"}}
    jsonschema.validate(good, schema)
    for bad in ({**good, "arguments": {"result": "?"}}, {**good, "tool": "other"}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)
    told, _, said, found = body["messages"]
    assert "- Exit: End." in told["content"]
    assert said == {"role": "assistant", "content": '{"tool": "look", "arguments": {"path": "x"}}'}
    assert found == {"role": "user", "content": "Answer of look:\nfound"}


async def test_as_a_schema_a_fence_around_the_call_is_taken_off() -> None:
    text = '```json\n{"tool": "look", "arguments": {}}\n```\n'
    request = ModelRequest(messages=ASK.messages, tools=(EXIT, LOOK), as_schema=True)
    async with serving([answer(completion(content=text))]) as wire:
        reply = await model(wire).complete(request)
    assert [(call.name, call.arguments) for call in reply.calls] == [("look", "{}")]


@pytest.mark.parametrize(
    "text", ["no JSON", "```", "```json\n[1]\n```", "[1]", '{"name": "Exit"}', ""]
)
async def test_text_that_is_no_call_stays_text(text: str) -> None:
    request = ModelRequest(messages=ASK.messages, tools=(EXIT,), as_schema=True)
    async with serving([answer(completion(content=text))]) as wire:
        reply = await model(wire).complete(request)
    assert (reply.text, reply.calls, reply.stop) == (text, (), "end")


STRANGE: dict[str, tuple[dict[str, Any], ModelReply]] = {
    "arguments as an object": (
        completion(tool_calls=[requested("look", {"path": "x"})]),
        ModelReply(calls=(RequestedCall(id="c1", name="look", arguments='{"path": "x"}'),)),
    ),
    "no arguments and no id": (
        completion(tool_calls=[requested("look", None, id=""), requested("look", "", id="")]),
        ModelReply(
            calls=(
                RequestedCall(id="call_0", name="look", arguments=""),
                RequestedCall(id="call_1", name="look", arguments=""),
            )
        ),
    ),
    "calls that are numbered alike": (
        completion(tool_calls=[{**requested("look", "{}", id=""), "index": 0}] * 2),
        ModelReply(
            calls=(
                RequestedCall(id="call_0", name="look", arguments="{}"),
                RequestedCall(id="call_1", name="look", arguments="{}"),
            )
        ),
    ),
    "calls that end as text does": (
        completion(tool_calls=[requested("look", "{")], finish_reason="stop", content=None),
        ModelReply(calls=(RequestedCall(id="c1", name="look", arguments="{"),)),
    ),
    "content in parts": (
        completion(content=[{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}]),
        ModelReply(text="ab", stop="end"),
    ),
    "cut at a length": (
        completion(content="a", finish_reason="length"),
        ModelReply(text="a", stop="length"),
    ),
    "cut by a filter": (
        completion(content="", finish_reason="content_filter"),
        ModelReply(stop="filter"),
    ),
    "a refusal": (completion(content=None, refusal="no"), ModelReply(text="no", stop="filter")),
    "an unknown end": (completion(content="a", finish_reason="eos"), ModelReply(text="a")),
}


@pytest.mark.parametrize(("said", "wanted"), STRANGE.values(), ids=STRANGE)
async def test_what_servers_make_of_the_form_is_understood(
    said: dict[str, Any], wanted: ModelReply
) -> None:
    async with serving([answer(said)]) as wire:
        reply = await model(wire).complete(ASK)
    stop = "calls" if wanted.calls else wanted.stop
    assert (reply.text, reply.calls, reply.stop) == (wanted.text, wanted.calls, stop)


async def test_usage_is_counted_charged_or_estimated() -> None:
    usage = {
        "prompt_tokens": 1_000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400},
    }
    bodies = [completion(content="a", usage=usage), completion(content="word " * 20, usage=None)]
    price = ModelPrice(input=2.0, cached=0.5, output=10.0)
    async with serving([answer(body) for body in bodies]) as wire:
        told = (await model(wire, price=price).complete(ASK)).usage
        not_told = (await model(wire).complete(ASK)).usage
    assert (told.input_tokens, told.cached_tokens, told.output_tokens) == (1_000, 400, 100)
    assert told.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
    assert ModelPrice(input=2.0, output=1.0).charged(told).cost == pytest.approx(2_100 / 1e6)
    assert (not_told.estimated, not_told.cost, not_told.output_tokens) == (True, None, 25)
    assert not_told.input_tokens > 20
    assert model(wire, price=price).priced
    assert not model(wire).priced


async def test_pieces_are_told_as_they_come() -> None:
    heard: list[str] = []
    function = {"name": "look", "arguments": '{"pa'}
    chunks: list[Json] = [
        piece(role="assistant", content="I "),
        piece(content="look."),
        piece(tool_calls=[{"index": 0, "id": "c1", "function": function}]),
        piece(tool_calls=[{"index": 0, "function": {"arguments": 'th": "x"}'}}]),
        piece("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6}},
    ]
    async with serving([stream(*chunks)]) as wire:
        reply = await model(wire).complete(ASK, on_text=heard.append)
    assert heard == ["I ", "look."]
    assert reply.text == "I look."
    assert reply.calls == (RequestedCall(id="c1", name="look", arguments='{"path": "x"}'),)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 6)
    assert wire.sent[0].body["stream"] is True


async def test_a_character_that_is_cut_in_two_is_made_whole_and_half_a_one_replaced() -> None:
    function = {"name": "look", "arguments": '{"path": "\ud83d'}
    chunks: list[Json] = [
        piece(content="so \ud83d"),
        piece(content="\ude00 and \ud83d"),
        piece(tool_calls=[{"index": 0, "id": "c1", "function": function}]),
        piece(tool_calls=[{"index": 0, "function": {"arguments": '\ude00"}'}}]),
        piece("tool_calls"),
    ]
    async with serving([stream(*chunks)]) as wire:
        reply = await model(wire).complete(ASK, on_text=lambda _: None)
    assert reply.text == "so \N{GRINNING FACE} and \N{REPLACEMENT CHARACTER}"
    assert reply.calls[0].arguments == '{"path": "\N{GRINNING FACE}"}'


async def test_a_piece_may_come_in_any_number_of_chunks() -> None:
    head, _, body = stream(piece(content="whole"), piece("stop")).partition(b"\r\n\r\n")
    chunked = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    said = head + b"\r\ntransfer-encoding: chunked\r\n\r\n" + chunked
    async with serving([said]) as wire:
        reply = await model(wire).complete(ASK, on_text=lambda _: None)
    assert (reply.text, reply.stop) == ("whole", "end")


async def test_calls_that_a_stream_numbers_alike_are_told_apart() -> None:
    def part(arguments: str, **also: object) -> Json:
        return piece(tool_calls=[{**also, "function": {"name": "look", "arguments": arguments}}])

    chunks = [part("{}", index=0, id="a"), part('{"x', index=0, id="b"), part('": 1}', index=0)]
    unnumbered = [part("{}", id="a"), part("[]", id="b")]
    async with serving(
        [stream(*each, piece("tool_calls")) for each in (chunks, unnumbered)]
    ) as wire:
        one = model(wire)
        replies = [await one.complete(ASK, on_text=lambda _: None) for _ in range(2)]
    told = [[(call.id, call.arguments) for call in reply.calls] for reply in replies]
    assert told == [[("a", "{}"), ("b", '{"x": 1}')], [("a", "{}"), ("b", "[]")]]


async def test_ids_of_calls_are_unique_in_a_reply() -> None:
    same = [requested("look", "{}", id="a"), requested("look", "[]", id="a")]
    async with serving([answer(completion(tool_calls=same))]) as wire:
        reply = await model(wire).complete(ASK)
    assert [(call.id, call.arguments) for call in reply.calls] == [("a", "{}"), ("call_1", "[]")]


async def test_an_error_in_an_answer_of_success_is_told() -> None:
    async with serving([answer({"error": {"message": f"overloaded {KEY}"}})]) as wire:
        with pytest.raises(ModelUnavailable, match=r"overloaded \*\*\*"):
            await model(wire).complete(ASK)


async def test_an_error_that_is_none_is_none() -> None:
    chunk = {**piece(content="a"), "error": None}
    async with serving([stream(chunk, piece("stop"))]) as wire:
        reply = await model(wire).complete(ASK, on_text=lambda _: None)
    assert reply.text == "a"


async def test_a_server_that_does_not_stream_is_heard_whole() -> None:
    heard: list[str] = []
    async with serving([answer(completion(content="all of it"))]) as wire:
        reply = await model(wire).complete(ASK, on_text=heard.append)
    assert (heard, reply.text) == (["all of it"], "all of it")


async def test_a_stream_without_its_last_line_is_whole_where_its_end_came() -> None:
    async with serving([stream(piece(content="a"), piece("stop"), done=False)]) as wire:
        reply = await model(wire).complete(ASK, on_text=lambda _: None)
    assert (reply.text, reply.stop) == ("a", "end")


def told(status: str, message: str = "no", headers: str = "") -> bytes:
    return answer({"error": {"message": message}}, status=status, headers=headers)


REFUSED = {
    "400": (told("400 Bad Request", "bad schema"), "answered 400: bad schema"),
    "401": (told("401 Unauthorized", f"wrong key {KEY}"), "answered 401: wrong key ***"),
    "403": (told("403 Forbidden"), "answered 403"),
    "404": (answer(b"<html>not here</html>", status="404 Not Found"), "<html>not here</html>"),
    "302": (answer(b"", status="302 Found", headers="location: http://x/\r\n"), "answered 302"),
    "packed": (
        answer(b"\x1f\x8b", status="401 Unauthorized", headers="content-encoding: gzip\r\n"),
        "answered 401",
    ),
    "an odd error": (answer({"error": "text"}, status="422 X"), "answered 422: text"),
    "another odd error": (answer({"error": {"code": 7}}, status="422 X"), "{'code': 7}"),
}


@pytest.mark.parametrize(("said", "why"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_is_told_and_never_the_key(said: bytes, why: str) -> None:
    async with serving([said]) as wire:
        with pytest.raises(ModelRefused) as caught:
            await model(wire).complete(ASK)
    assert why in caught.value.message
    assert KEY not in f"{caught.value.message} {caught.value.hint}"
    assert len(wire.sent) == 1


NO_MESSAGE: Json = {"choices": [{}]}

AGAIN = {
    "429": told("429 Too Many Requests"),
    "408": told("408 Request Timeout"),
    "500": told("500 Internal Server Error"),
    "503": answer({"error": {"message": "Loading model"}}, status="503 Unavailable"),
    "no JSON": answer(b"{"),
    "nothing": answer(b"", status="204 No Content"),
    "a nest": answer(b"[" * 100_000),
    "another form": answer([1]),
    "no choices": answer({"choices": []}),
    "choices of another form": answer({"choices": {"a": 1}}),
    "calls of another form": answer(completion(tool_calls=["x"])),
    "no message": answer(NO_MESSAGE),
    "a huge answer": answer(b'"' + b"x" * 20_000_001 + b'"'),
    "an answer that unpacks": answer(
        gzip.compress(b"[]"), headers="content-encoding: gzip, gzip\r\n"
    ),
    "an error that unpacks": answer(
        gzip.compress(b"no"), status="500 X", headers="content-encoding: gzip\r\n"
    ),
    "headers without end": answer(b"{}", headers="x: " + "y" * 1_000_000 + "\r\n"),
    "half an answer": DONE[:-20],
    "no answer": b"",
    "no HTTP": b"hello\r\n\r\n",
}


@pytest.mark.parametrize("said", AGAIN.values(), ids=AGAIN)
async def test_what_may_pass_is_unavailable_and_not_tried_again(said: bytes) -> None:
    async with serving([said, DONE]) as wire:
        with pytest.raises(ModelUnavailable):
            await model(wire).complete(ASK)
    assert len(wire.sent) == 1


BROKEN_STREAMS = {
    "half": stream(piece(content="a"), done=False),
    "half, with an empty end": stream(piece("", content="a"), done=False),
    "none of it": stream(done=True),
    "an error in it": stream(piece(content="a"), {"error": {"message": "overloaded"}}),
    "no JSON in it": stream().replace(b"[DONE]", b"{"),
}


@pytest.mark.parametrize("said", BROKEN_STREAMS.values(), ids=BROKEN_STREAMS)
async def test_a_stream_that_breaks_off_is_unavailable(said: bytes) -> None:
    async with serving([said]) as wire:
        with pytest.raises(ModelUnavailable):
            await model(wire).complete(ASK, on_text=lambda _: None)


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [("7", 7, 7), ("0.5", 0.5, 0.5), ("-3", 0, 0), ("1e9", 3_600, 3_600), ("date", 50, 60)],
)
async def test_how_long_to_wait_is_told(said: str, low: float, high: float) -> None:
    if said == "date":
        said = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    async with serving([told("429 Wait", headers=f"retry-after: {said}\r\n")]) as wire:
        with pytest.raises(ModelUnavailable) as caught:
            await model(wire).complete(ASK)
    assert caught.value.retry_after is not None
    assert low <= caught.value.retry_after <= high


@pytest.mark.parametrize("said", ["soon", "nan", ""])
async def test_how_long_to_wait_may_not_be_known(said: str) -> None:
    async with serving([told("429 Wait", headers=f"retry-after: {said}\r\n")]) as wire:
        with pytest.raises(ModelUnavailable) as caught:
            await model(wire).complete(ASK)
    assert caught.value.retry_after is None


async def test_an_answer_that_does_not_come_is_given_up() -> None:
    request = ModelRequest(messages=ASK.messages, seconds=0.05)
    async with serving([None]) as wire:
        with pytest.raises(ModelUnavailable, match=r"within 0\.05 s"):
            await model(wire).complete(request)
        await asyncio.wait_for(wire.closed.wait(), 10)


async def test_a_cancelled_request_closes_its_connection() -> None:
    async with serving([None]) as wire:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(model(wire).complete, ASK)
                while not wire.sent:
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        await asyncio.wait_for(wire.closed.wait(), 10)


async def test_no_more_requests_go_out_at_a_time_than_are_allowed() -> None:
    gate = asyncio.Event()
    async with serving([DONE], gate=gate) as wire:
        one = model(wire, concurrency=2)
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one.complete, ASK)
            while len(wire.sent) < 2:
                await anyio.lowlevel.checkpoint()
            gate.set()
    assert (len(wire.sent), wire.most_at_once) == (5, 2)


async def test_nobody_there_is_unavailable() -> None:
    async with serving([DONE]) as wire:
        pass
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model(wire).complete(ASK)


async def test_the_key_goes_through_no_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with serving([DONE]) as wire:
        assert (await model(wire).complete(ASK)).calls


async def test_a_query_of_the_base_url_stays_behind_the_path() -> None:
    async with serving([DONE]) as wire:
        asked = OpenAICompatible("tiny", base_url=f"{wire.url}/?api-version=1")
        await asked.complete(ASK)
    assert wire.sent[0].head.startswith("POST /v1/chat/completions?api-version=1 HTTP")


@pytest.mark.parametrize("url", ["", "no address", "ftp://x/v1", "http://", "http://a:b@x/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        OpenAICompatible("tiny", base_url=url)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nx: y", f" {KEY}", "schlüssel-" + KEY])
def test_a_key_that_no_header_can_have_is_refused_and_not_told(key: str) -> None:
    for settings in (Given(api_key=key), Given(headers={"x-key": key})):
        with pytest.raises(ConfigError, match="no header can have") as caught:
            OpenAICompatible("tiny", base_url="http://x/v1", **settings)
        assert KEY not in str(caught.value)


def test_a_concurrency_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="concurrency"):
        OpenAICompatible("tiny", base_url="http://x/v1", concurrency=0)


def test_both_errors_are_errors_of_a_model() -> None:
    assert issubclass(ModelRefused, ModelError)
    assert issubclass(ModelUnavailable, ModelError)
