"""What a server behind a front has beside its tools: what is read of it is a call."""

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server

from fronts import CANCELS, MODES, OPEN, Mode, Person, accepts, client_of
from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer
from passed import ERAS, NO_SECRETS, passed, watch
from upstreams.library import Library

AUTO = Policy.from_dict({"mode": "auto"})
NOTHING = Policy.from_dict({"mode": "open", "rules": [{"id": "no", "verdict": "deny"}]})


@pytest.mark.parametrize("older", ERAS)
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_read_is_a_call_and_stands_in_the_record(
    mode: Mode, older: bool, tmp_path: Path
) -> None:
    library = Library(older=older)
    async with (
        passed(library, tmp_path) as (session, client_with),
        client_with(mode=mode) as client,
    ):
        read = await client.read_resource("book://a")
        prompt = await client.get_prompt("praise", {"of": "it"})
        reference = types.PromptReference(name="praise")
        completed = await client.complete(reference, {"name": "of", "value": "i"})
        if mode == "legacy":
            await watch(client, "book://b")
        assert session.store is not None
        runs = [await session.store.events(run.run_id) for run in await session.store.runs()]
    asked = [event.data for events in runs for event in events if event.kind == "call_asked"]
    assert isinstance(read.contents[0], types.TextResourceContents)
    assert read.contents[0].text == "alpha"
    assert isinstance(prompt.messages[0].content, types.TextContent)
    assert prompt.messages[0].content.text == "praise: {'of': 'it'}"
    assert completed.completion.values == ["i!"]
    known = {str(data["tool"]): data for data in asked}
    assert known["lib.resources/read"]["arguments"] == {"uri": "book://a"}
    assert known["lib.prompts/get"]["arguments"] == {"name": "praise", "arguments": {"of": "it"}}
    assert ("lib.resources/subscribe" in known) == (mode == "legacy")
    assert {data["origin"] for data in asked} == {"mcp"}
    assert {data["effect"] for data in asked} == {"read"}


@pytest.mark.parametrize("mode", MODES)
async def test_what_policy_denies_is_not_listed_not_read_and_not_watched(
    mode: Mode, tmp_path: Path
) -> None:
    library = Library()
    async with (
        passed(library, tmp_path, policy=NO_SECRETS) as (_, client_with),
        client_with(mode=mode) as client,
    ):
        resources = [each.uri for each in (await client.list_resources()).resources]
        templates = await client.list_resource_templates()
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        with pytest.raises(MCPError, match=r"hush.*secrets stay here"):
            await client.read_resource("secret://plan")
        with pytest.raises(MCPError, match="E_DENIED"):
            await client.get_prompt("blame")
        if mode == "legacy":
            with pytest.raises(MCPError, match="E_DENIED"):
                await watch(client, "secret://plan")
        else:
            async with client.listen(resource_subscriptions=["secret://plan"]) as events:
                assert not events.honored.resource_subscriptions
        await client.read_resource("book://a")
    assert resources == ["book://a", "book://b"]
    assert [each.uri_template for each in templates.resource_templates] == ["book://{id}"]
    assert prompts == ["praise", "ask"]
    assert library.asked == ["book://a"]
    assert library.watched == []


@pytest.mark.parametrize("mode", MODES)
async def test_where_policy_denies_everything_the_server_is_asked_for_nothing(
    mode: Mode, tmp_path: Path
) -> None:
    library = Library()
    async with (
        passed(library, tmp_path, policy=NOTHING) as (_, client_with),
        client_with(mode=mode, direct=["*"]) as client,
    ):
        with pytest.raises(MCPError, match="E_DENIED"):
            await client.read_resource("book://a")
        with pytest.raises(MCPError, match="E_DENIED"):
            await client.get_prompt("praise")
        reference = types.PromptReference(name="praise")
        completed = await client.complete(reference, {"name": "of", "value": "i"})
        assert completed.completion.values == []
    assert library.asked == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_nobody_vouches_for_is_asked_about(mode: Mode, tmp_path: Path) -> None:
    library = Library()
    person = Person([accepts(decision="approve all"), accepts(decision="deny all")])
    async with (
        passed(library, tmp_path, policy=AUTO, trust=False) as (_, client_with),
        client_with(mode=mode, person=person) as client,
    ):
        await client.read_resource("book://a")
        with pytest.raises(MCPError, match="E_DENIED"):
            await client.read_resource("book://b")
        reference = types.PromptReference(name="praise")
        await client.complete(reference, {"name": "of", "value": "i"})
    assert "book://a" in person.asked[0].message
    assert library.asked == ["book://a"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("person", [None, Person([CANCELS, CANCELS])])
async def test_what_nobody_answers_is_refused_and_waits_nowhere(
    person: Person | None, mode: Mode, tmp_path: Path
) -> None:
    library = Library()
    async with (
        passed(library, tmp_path, policy=AUTO, trust=False) as (session, client_with),
        client_with(mode=mode, person=person) as client,
    ):
        with pytest.raises(MCPError, match="no answer came"):
            await client.read_resource("book://a")
        assert session.store is not None
        assert [run.status for run in await session.store.runs()] == ["error"]
    assert library.asked == []


@pytest.mark.parametrize("older", ERAS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_prompt_that_asks_a_person_asks_them(
    mode: Mode, older: bool, tmp_path: Path
) -> None:
    person = Person([accepts(who="Ada")])
    async with (
        passed(Library(older=older), tmp_path) as (_, client_with),
        client_with(mode=mode, person=person) as client,
    ):
        prompt = await client.get_prompt("ask")
    assert isinstance(prompt.messages[0].content, types.TextContent)
    assert prompt.messages[0].content.text.startswith("ask Ada")


@pytest.mark.parametrize("mode", MODES)
async def test_what_the_server_refuses_is_told_with_its_code(mode: Mode, tmp_path: Path) -> None:
    async with (
        passed(Library(), tmp_path, secrets=["book://zz"]) as (_, client_with),
        client_with(mode=mode) as client,
    ):
        for uri in ("book://z", "book://zz"):
            with pytest.raises(MCPError, match="no such book") as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == types.INVALID_PARAMS
            assert "zz" not in str(caught.value.error.data)


@pytest.mark.parametrize("mode", MODES)
async def test_secrets_are_taken_out_of_what_is_read_and_listed(mode: Mode, tmp_path: Path) -> None:
    library = Library()
    async with (
        passed(library, tmp_path, secrets=["hush"]) as (_, client_with),
        client_with(mode=mode) as client,
    ):
        read = await client.read_resource("secret://plan")
        listed = await client.list_resources()
    assert "hush" not in read.model_dump_json()
    assert "hush" not in listed.model_dump_json()
    assert "about alpha" in listed.model_dump_json()
    assert listed.resources[-1].uri == "secret://plan"


@pytest.mark.parametrize("mode", MODES)
async def test_what_stands_beside_the_tools_is_no_tool(mode: Mode, tmp_path: Path) -> None:
    library = Library()
    async with (
        passed(library, tmp_path) as (session, client_with),
        client_with(mode=mode, direct=["*"]) as client,
    ):
        listed = [each.name for each in (await client.list_tools()).tools]
        for name in ("resources/read", "lib.resources/read", "lib__resources/read"):
            with pytest.raises(MCPError, match="no tool"):
                await client.call_tool(name, {"uri": "book://a"})
        code = "return await tools.call('lib.resources/read', uri='book://a')"
        ran = await client.call_tool("run", {"code": code})
        assert ran.is_error
        assert not any("/" in name for name in session.tools)
    assert listed[5:] == ["die"]
    assert library.asked == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_the_server_does_not_offer_is_neither_declared_nor_asked_for(
    mode: Mode, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def note(ctx: Any, call_next: CallNext) -> HandlerResult:
        asked.append(ctx.method)
        return await call_next(ctx)

    async def tools(context: object, params: object) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(
            tools=[types.Tool(name="add", input_schema={"type": "object"})]
        )

    server: Server[Any] = Server("tools", on_list_tools=tools)
    server.middleware.append(note)
    upstream = mcp_server(server, name="lib")
    async with (
        Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session,
        client_of(session, mode=mode, passed="lib") as client,
    ):
        can = client.server_capabilities
        assert (await client.list_resources()).resources == []
        assert (await client.list_resource_templates()).resource_templates == []
        assert (await client.list_prompts()).prompts == []
    assert (can.resources, can.prompts, can.completions) == (None, None, None)
    assert can.tools is not None
    assert set(asked) <= {"server/discover", "tools/list", "subscriptions/listen"}


@pytest.mark.parametrize("passed", ["lib", ""])
async def test_changes_of_what_is_not_there_are_not_promised(passed: str, tmp_path: Path) -> None:
    async def tools(context: object, params: object) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(tools=[])

    upstream = mcp_server(Server("tools", on_list_tools=tools), name="lib")
    async with (
        Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session,
        client_of(session, passed=passed) as client,
        client.listen(
            tools_list_changed=True,
            resources_list_changed=True,
            prompts_list_changed=True,
            resource_subscriptions=["book://a"],
        ) as events,
    ):
        promised = events.honored.model_dump(exclude_none=True)
    assert promised == {"tools_list_changed": True}


async def test_without_a_front_that_passes_it_on_nothing_beside_is_reached(tmp_path: Path) -> None:
    library = Library()
    upstream = mcp_server(library.offered, name="lib", trust=True)
    async with Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session:
        await session.ready()
        assert isinstance(upstream, McpServer)
        done = await session.call("lib.resources/read", {"uri": "book://a"})
        model = await session.handle("lib.resources/read", {"uri": "book://a"})
    assert done.error is not None
    assert done.error.code == "E_UNKNOWN_TOOL"
    assert model.is_error
    assert library.asked == []
