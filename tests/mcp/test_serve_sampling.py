"""What servers behind a front ask of a model, and for roots: it reaches the client of the call."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client, MCPError

from fronts import (
    ASKS,
    MODES,
    OPEN,
    Mode,
    Model,
    Person,
    accepts,
    client_of,
    data_of,
    project,
    served,
    text_of,
)
from lineshaft import Session, tool
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.front import Front, front_server
from upstreams.real import npm_server, python_server
from upstreams.rounds import LARGE, ROUNDS, newer

EMPTY_ARGUMENTS: dict[str, Any] = {}


def older() -> Any:
    """Return a program that speaks the older protocol."""
    return mcp_server(python_server("asking"), name="up", trust=True)


@asynccontextmanager
async def before(source: Any, **offers: Any) -> AsyncGenerator[Client]:
    """Give a client of a front that was made before its session was entered."""
    session = Session([source], policy=OPEN, store=False)
    front = Front(session, passed="up")
    mode = offers.pop("mode", "auto")
    async with (
        session,
        front_server(front) as server,
        Client(server, mode=mode, **offers) as client,
    ):
        await session.ready()
        yield client


@asynccontextmanager
async def passed(source: Any, **options: Any) -> AsyncGenerator[Client]:
    async with Session([source], policy=OPEN, store=False) as session:
        await session.ready()
        async with client_of(session, passed="up", **options) as client:
            yield client


def answers_in(result: types.CallToolResult) -> dict[str, Any]:
    assert not result.is_error, text_of(result)
    return cast("dict[str, Any]", json.loads(text_of(result)))


@pytest.mark.parametrize("mode", MODES)
async def test_a_model_behind_the_client_answers_a_server_of_the_newest_protocol(
    mode: Mode,
) -> None:
    model = Model()
    async with passed(newer(), mode=mode, model=model) as client:
        direct = await client.call_tool("think", {})
        seen = await client.call_tool("look", {})
        ran = await client.call_tool("run", {"code": "return await up.think()"})
    content = {"type": "text", "text": "why[2J?"}
    answer = {"role": "assistant", "content": content, "model": "echo"}
    assert answers_in(direct)["thought"].items() >= answer.items()
    assert json.loads(data_of(ran)["value"]) == answers_in(direct)
    image = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
    assert answers_in(seen)["thought"]["content"] == image
    assert [len(asked.messages) for asked in model.asked] == [1, 1, 1]
    asked = model.asked[0]
    assert (asked.system_prompt, asked.temperature, asked.max_tokens) == ("be brief", 0.5, 20)


@pytest.mark.parametrize("mode", MODES)
async def test_a_model_behind_the_client_answers_a_program_of_the_older_protocol(
    mode: Mode,
) -> None:
    model = Model()
    offers = {"sampling_callback": model, "list_roots_callback": project}
    async with before(older(), mode=mode, **offers) as client:
        thought = await client.call_tool("think", {"text": "why?"})
        where = await client.call_tool("where", {})
        ran = await client.call_tool("run", {"code": "return await up.where()"})
    assert answers_in(thought)["result"]["content"] == {"type": "text", "text": "why?"}
    root = {"uri": "file:///srv/project", "name": "project"}
    assert answers_in(where)["result"]["roots"] == [root]
    assert json.loads(data_of(ran)["value"]) == answers_in(where)
    assert len(model.asked) == 1


@pytest.mark.parametrize("source", [older, newer])
@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_of_the_model_may_come_as_a_list(
    mode: Mode, source: Callable[[], Any]
) -> None:
    one, two = types.TextContent(text="one"), types.TextContent(text="two")
    picture = types.ImageContent(data="aGVsbG8=", mime_type="image/png")
    found: list[object] = []
    for contents in ([one], [one, two], [one, picture]):
        model = Model(
            says=types.CreateMessageResultWithTools(
                role="assistant", content=[*contents], model="echo"
            )
        )
        async with before(source(), mode=mode, sampling_callback=model) as client:
            said = answers_in(await client.call_tool("think", {}))
        [answer] = [said[key] for key in ("result", "thought") if key in said]
        found.append(answer["content"])
    assert found[0] == {"type": "text", "text": "one"}
    assert found[1] == {"type": "text", "text": "one\ntwo"}
    assert isinstance(found[2], list)
    assert [each["type"] for each in cast("list[dict[str, str]]", found[2])] == ["text", "image"]


@pytest.mark.parametrize("mode", MODES)
async def test_all_that_a_server_asks_at_once_is_answered(mode: Mode) -> None:
    person, model = Person([accepts(name="Ada")]), Model()
    async with passed(newer(), mode=mode, person=person, model=model, roots=project) as client:
        found = answers_in(await client.call_tool("all", {}))
    assert found["name"] == {"action": "accept", "content": {"name": "Ada"}}
    assert found["thought"]["content"]["text"] == "why?"
    assert found["roots"]["roots"] == [{"uri": "file:///srv/project", "name": "project"}]
    assert [asked.message for asked in person.asked] == ["up.all: who?"]


@pytest.mark.parametrize("name", ["all", "forms"])
@pytest.mark.parametrize("way", ["direct", "script"])
async def test_a_client_of_the_newest_protocol_is_asked_all_in_one_answer(
    name: str, way: str
) -> None:
    in_script: dict[str, Any] = {"code": f"return await up.{name}()"}
    called = ("run", in_script) if way == "script" else (name, EMPTY_ARGUMENTS)
    async with passed(newer(), person=Person(), model=Model(), roots=project) as client:
        asked = await client.session.call_tool(*called, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        assert asked.input_requests is not None
        assert set(asked.input_requests) == set(ROUNDS[name])
        replies: dict[str, types.InputResponse] = {
            key: accepts(name=key) for key in asked.input_requests
        }
        if name == "all":
            replies["thought"] = types.CreateMessageResult(
                role="assistant", content=types.TextContent(text="because"), model="m"
            )
            replies["roots"] = types.ListRootsResult(roots=[])
        first = dict(list(replies.items())[:1])
        left = await client.session.call_tool(
            *called,
            input_responses=first,
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(left, types.InputRequiredResult)
        assert set(left.input_requests or {}) == set(replies) - set(first)
        done = await client.session.call_tool(
            *called,
            input_responses={key: each for key, each in replies.items() if key not in first},
            request_state=left.request_state,
            allow_input_required=True,
        )
    assert isinstance(done, types.CallToolResult)
    assert not done.is_error
    assert all(key in text_of(done) for key in replies)


@pytest.mark.parametrize("mode", MODES)
async def test_each_server_is_told_what_the_client_of_the_call_offers(mode: Mode) -> None:
    async with Session([newer()], policy=OPEN, store=False) as session:
        await session.ready()
        async with (
            client_of(session, mode=mode, passed="up") as bare,
            client_of(session, mode=mode, passed="up", model=Model()) as thinking,
            client_of(session, mode=mode, passed="up", person=Person(), roots=project) as other,
        ):
            told = [
                set(answers_in(await client.call_tool("declared", {})))
                for client in (bare, thinking, other)
            ]
            ran = await thinking.call_tool("run", {"code": "return await up.declared()"})
            away = await thinking.call_tool(
                "run", {"code": "return await up.declared()", "background": True}
            )
            run_id = data_of(away)["run_id"]
            after = await thinking.call_tool("resume", {"run_id": run_id})
    assert told == [set(), {"sampling"}, {"elicitation", "roots"}]
    assert set(json.loads(data_of(ran)["value"])) == {"sampling"}
    assert set(json.loads(data_of(after)["value"])) == set()


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_client_does_not_offer_is_refused_and_it_is_not_asked(mode: Mode) -> None:
    person, model = Person(), Model()
    async with passed(newer(), mode=mode, person=person) as client:
        for name in ("think", "where", "all"):
            person.says.append(accepts(name="Ada"))
            refused = await client.call_tool(name, {})
            assert refused.is_error
            assert "is not offered by the caller" in text_of(refused)
    async with before(older(), mode=mode, sampling_callback=model) as client:
        where = answers_in(await client.call_tool("where", {}))
        unasked = answers_in(await client.call_tool("ask", {}))
    assert where["error"]["code"] == types.METHOD_NOT_FOUND
    assert "no person can be asked" in unasked["error"]["message"]
    assert model.asked == []


async def test_a_program_of_the_older_protocol_is_told_once_what_may_be_offered() -> None:
    async with before(older()) as client:
        in_front = answers_in(await client.call_tool("declared", {}))
    async with Session([older()], policy=OPEN, store=False) as session:
        alone = await session.call("up.declared")

    async def model(asked: Mapping[str, object]) -> Mapping[str, object]:
        content = {"type": "text", "text": "because"}
        return {"role": "assistant", "content": content, "model": "m"}

    async with Session([older()], policy=OPEN, store=False, sample=model) as session:
        thinking = await session.call("up.declared")
        thought = await session.call("up.think", {"text": "why?"})
    assert in_front["roots"] == {}
    assert set(in_front) == {"elicitation", "sampling", "roots"}
    assert set(json.loads(str(alone.value))) == {"elicitation"}
    assert set(json.loads(str(thinking.value))) == {"elicitation", "sampling"}
    assert json.loads(str(thought.value))["result"]["content"]["text"] == "because"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("large", "more than 4,000,000 bytes"),
        ("tools", "no model is offered that calls tools"),
        ("many", "one call may ask 10 questions"),
    ],
)
async def test_what_is_too_much_never_reaches_the_client(mode: Mode, name: str, why: str) -> None:
    model = Model()
    async with passed(newer(), mode=mode, model=model) as client:
        refused = await client.call_tool(name, {})
    assert refused.is_error
    assert why in text_of(refused)
    assert model.asked == []


async def test_servers_from_npm_use_what_the_client_offers_and_keep_what_they_were_given(
    tmp_path: Path,
) -> None:
    """One of them asks for roots on its own account: that belongs to no call, and gets none."""
    sources = [
        mcp_server(npm_server("everything"), name="everything", trust=True),
        mcp_server(npm_server("filesystem", str(tmp_path)), name="files", trust=True),
    ]
    script = """
thought = await everything.trigger_sampling_request(prompt='why?', maxTokens=9)
roots = await everything.get_roots_list()
return [thought, roots, await files.list_allowed_directories()]
"""
    session = Session(sources, policy=OPEN, store=False)
    front, model = Front(session), Model()
    async with (
        session,
        front_server(front) as server,
        Client(server, sampling_callback=model, list_roots_callback=project) as client,
    ):
        ran = await client.call_tool("run", {"code": script})
    thought, roots, allowed = data_of(ran)["value"]
    assert "context: why?" in thought
    assert "file:///srv/project" in roots
    assert str(tmp_path) in str(allowed)
    assert "/srv/project" not in str(allowed)
    assert len(model.asked) == 1


async def test_a_program_that_asks_again_and_again_is_answered_ten_times() -> None:
    model = Model()
    async with before(older(), sampling_callback=model) as client:
        found = cast("list[dict[str, Any]]", answers_in(await client.call_tool("often", {})))
    assert ["result" in each for each in found] == [True] * 10 + [False] * 2
    assert len(model.asked) == 10


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_that_is_too_large_does_not_reach_the_server(mode: Mode) -> None:
    large = types.TextContent(text="x" * LARGE)
    model = Model(says=types.CreateMessageResult(role="assistant", content=large, model="m"))
    async with passed(newer(), mode=mode, model=model) as client:
        refused = await client.call_tool("think", {})
    assert refused.is_error
    assert "more than 4,000,000 bytes" in text_of(refused)


async def test_a_client_that_will_not_answer_is_an_error_for_the_server() -> None:
    async def refuses(context: object, params: object) -> types.ErrorData:
        return types.ErrorData(code=-1, message="the person said no")

    offers: dict[str, Any] = {"mode": "legacy", "sampling_callback": refuses}
    async with before(older(), **offers) as client:
        found = answers_in(await client.call_tool("think", {}))
    assert "the person said no" in found["error"]["message"]
    assert found["error"]["code"] == -1  # that a person refused, as the protocol has it


async def test_an_answer_to_another_question_is_none() -> None:
    async with passed(newer(), model=Model()) as client:
        asked = await client.session.call_tool("think", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        done = await client.session.call_tool(
            "think",
            {},
            input_responses={"thought": accepts(name="Ada")},
            request_state=asked.request_state,
            allow_input_required=True,
        )
    assert isinstance(done, types.CallToolResult)
    assert "something else than what was asked" in text_of(done)


@pytest.mark.parametrize("mode", MODES)
async def test_no_model_is_asked_what_policy_asks(mode: Mode, tmp_path: Path) -> None:
    made: list[str] = []

    @tool(effect="external")
    async def put(what: str) -> str:
        """Put something somewhere."""
        made.append(what)
        return what

    model = Model()
    async with served([put], at=tmp_path, policy=ASKS, mode=mode, model=model) as (client, _):
        ran = await client.call_tool("run", {"code": "return await put(what='x')"})
    assert data_of(ran)["status"] == "paused"
    assert (made, model.asked) == ([], [])


@pytest.mark.parametrize("mode", MODES)
async def test_what_a_passed_server_needs_of_its_client_is_told_as_it_said_it(mode: Mode) -> None:
    async with passed(newer(), mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("needs", {})
        refused = await client.call_tool("refuses", {})
        odd = [await client.call_tool(name, {}) for name in ("needs_much", "needs_nothing")]
        ran = await client.call_tool("run", {"code": "return await up.needs()"})
    error = caught.value.error
    assert error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert error.message == "a model is needed"
    assert error.data == {"requiredCapabilities": {"sampling": {}}}
    for each in (refused, *odd, ran):
        assert each.is_error
    assert "not like this" in text_of(refused)
    assert all("a model is needed" in text_of(each) for each in (*odd, ran))


async def test_what_a_tool_needs_that_is_not_passed_is_an_error_of_the_call() -> None:
    async with Session([newer()], policy=OPEN, store=False) as session:
        await session.ready()
        async with client_of(session, direct=["up.*"]) as client:
            refused = await client.call_tool("up__needs", {})
    assert refused.is_error
    assert "a model is needed" in text_of(refused)
