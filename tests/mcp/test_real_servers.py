"""Real servers, started by their commands, are used from scripts like any other tools."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import psutil
import pytest
from mcp.server import MCPServer
from mcp.shared.exceptions import UrlElicitationRequiredError

from lineshaft import Caller, Limits, Policy, Session
from lineshaft.errors import ConfigError, ToolError
from lineshaft.mcp import ServerSpec
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer
from lineshaft.values import Event
from upstreams import plain
from upstreams.real import npm_server, python_server

OPEN = Policy.from_dict({"mode": "open"})


def shop(*, trust: bool = False) -> McpServer:
    return mcp_server(python_server("plain"), name="shop", trust=trust)


async def test_one_script_joins_the_results_of_four_servers(tmp_path: Path) -> None:
    (tmp_path / "order-1.txt").write_text("two lamps")
    memory = ServerSpec(
        command=npm_server("memory"), env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    )
    sources = [
        mcp_server(npm_server("everything"), name="everything"),
        mcp_server(npm_server("filesystem", str(tmp_path)), name="fs"),
        mcp_server(memory, name="memory"),
        shop(),
    ]
    script = f"""
    await memory.create_entities(entities=[
        {{"name": "ada", "entityType": "customer", "observations": ["pays late"]}}
    ])
    found, note, known, total = await asyncio.gather(
        shop.orders(customer="ada"),
        fs.read_text_file(path={str(tmp_path / "order-1.txt")!r}),
        memory.open_nodes(names=["ada"]),
        everything.get_sum(a=2, b=3),
    )
    return [found, note["content"], known["entities"][0]["observations"], total]
    """
    async with Session(sources, workspace=tmp_path, policy=OPEN, store=False) as session:
        result = await session.run(_dedented(script))
    assert result.error is None
    assert result.value == [[1, 2], "two lamps", ["pays late"], "The sum of 2 and 3 is 5."]


@pytest.mark.parametrize("tool", ["wasm", "cpython"])
async def test_what_a_server_says_meanwhile_reaches_whoever_called(tool: str) -> None:
    heard: list[Event] = []
    asked: list[tuple[str, Mapping[str, object]]] = []

    async def elicit(message: str, schema: Mapping[str, object]) -> object:
        asked.append((message, schema))
        return {"name": "Ada", "check": True}

    source = mcp_server(npm_server("everything"), name="everything")
    caller = Caller(elicit=elicit, sink=heard.append)
    script = """
        await everything.trigger_long_running_operation(duration=0.2, steps=2)
        return await everything.trigger_elicitation_request()
    """
    async with Session([source], policy=OPEN, engine="wasm", store=False) as session:
        result = await session.run(_dedented(script), caller=caller)
    assert result.error is None, result.error
    steps = [event.data["done"] for event in heard if event.kind == "progress"]
    assert steps == [1, 2], tool
    assert len(asked) == 1
    assert asked[0][0].startswith("everything.trigger-elicitation-request: ")
    assert "name" in str(asked[0][1])
    assert "Ada" in str(result.value)


async def test_a_server_that_dies_fails_its_call_and_the_next_run_works() -> None:
    script = """
        try:
            await shop.die()
        except ToolError as error:
            return [error.code, error.tool, str(error)]
    """
    async with Session([shop()], policy=OPEN, store=False) as session:
        result = await session.run(_dedented(script))
        value: Any = result.value
        code, tool, text = value
        assert (code, tool) == ("E_TOOL_FAILED", "shop.die")
        assert "exited with code 7" in str(text)
        assert "may have happened" in str(text)
        again = await session.run("return await shop.total(order=2)")
    assert again.value == 4.5


async def test_killing_a_server_in_the_middle_of_a_call_is_seen_at_the_call() -> None:
    async with Session([shop()], policy=OPEN, store=False) as session:
        found = await session.call("shop.process")
        pid = int(str(found.value))
        run = await session.start("return await shop.wait()")
        async for event in run:
            if event.kind == "call_started":
                os.kill(pid, 9)
        result = await run.result()
        assert result.error is not None
        assert result.error.code == "E_TOOL_FAILED"
        assert "lost while the call was under way" in result.error.message
        assert (await session.run("return await shop.orders(customer='bob')")).value == [3]


async def test_a_call_that_is_cancelled_is_cancelled_in_the_server() -> None:
    source = shop()
    limits = Limits(call_seconds=1)
    async with Session([source], policy=OPEN, limits=limits, store=False) as session:
        result = await session.call("shop.wait")
        assert result.error is not None
        assert result.error.code == "E_TOOL_TIMEOUT"
        again = await session.call("shop.die")
    assert again.error is not None
    assert "the wait was cancelled" in again.error.message


async def test_no_process_is_left_at_the_end() -> None:
    async with Session([shop()], policy=OPEN, store=False) as session:
        pid = int(str((await session.call("shop.process")).value))
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


async def test_no_process_is_left_when_the_session_is_cancelled() -> None:
    pids: list[int] = []
    with anyio.CancelScope() as scope:
        async with Session([shop()], policy=OPEN, store=False) as session:
            pids.append(int(str((await session.call("shop.process")).value)))
            scope.cancel()
            await anyio.sleep_forever()
    assert pids
    assert not psutil.pid_exists(pids[0])


async def test_a_call_carries_its_key_and_the_trace() -> None:
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    async with Session([shop()], policy=OPEN, store=False) as session:
        script = "return await shop.place(customer='ada')"
        result = await session.run(script, caller=Caller(trace=trace))
    value: Any = result.value
    meta = value["meta"]
    assert meta["traceparent"] == trace["traceparent"]
    assert str(meta["lineshaft/idempotencyKey"]).startswith(result.run_id)


async def test_a_server_object_in_this_process_is_used_without_a_process() -> None:
    async with mcp_server(plain.server, name="shop", trust=True) as tools:
        assert tools["shop.orders"].spec.effect == "read"
    async with Session([mcp_server(plain.server)], policy=OPEN, store=False) as session:
        assert (await session.run("return await shop.total(order=1)")).value == 10.5


async def test_some_of_a_servers_tools_are_offered_under_other_names() -> None:
    source = McpServer(plain.server, name="shop", trust=True)
    kept = source.filter(lambda tool: tool.name in ("shop.orders", "shop.total"))
    async with Session(
        [kept.rename({"shop.total": "shop.sum"})], policy=OPEN, store=False
    ) as session:
        await session.ready()
        assert {name for name in session.tools if "." in name} == {"shop.orders", "shop.sum"}
    renamed = source.rename(lambda name: name.replace(".", ".old_"))
    async with Session([renamed], policy=OPEN, store=False) as session:
        assert (await session.run("return await shop.old_total(order=1)")).value == 10.5


async def test_a_tool_that_sends_a_person_to_an_address_names_it() -> None:
    server = MCPServer("files")

    @server.tool()
    def read() -> str:  # pyright: ignore[reportUnusedFunction]  the server has it
        """Read."""
        address = types.ElicitRequestURLParams(
            message="Grant access to your files",
            url="https://example.org/grant",
            elicitation_id="e1",
        )
        raise UrlElicitationRequiredError([address])

    async with Session([McpServer(server)], policy=OPEN, store=False) as session:
        done = await session.call("files.read")
    assert done.error is not None
    assert "Grant access to your files (https://example.org/grant)" in done.error.message


async def test_claims_count_once_somebody_accepted_them() -> None:
    untrusted, trusted = shop(), shop(trust=True)
    asked: list[tuple[int, str]] = []
    partly = mcp_server(
        python_server("plain"),
        name="shop",
        claims=lambda claims, digest: asked.append((len(claims), digest)) or {"shop.total": "read"},
    )
    found: dict[McpServer, dict[str, str]] = {}
    for source in (untrusted, trusted, partly):
        async with source as tools:
            found[source] = {name: tool.spec.effect for name, tool in tools.items()}
    assert set(found[untrusted].values()) == {"external"}
    assert found[trusted]["shop.orders"] == "read"
    assert found[trusted]["shop.place"] == "external"
    assert [name for name, effect in found[partly].items() if effect == "read"] == ["shop.total"]
    assert untrusted.accepted is None
    assert asked == [(6, untrusted.catalogue_hash)]


async def test_filtered_and_renamed_providers_stay_providers() -> None:
    source = shop().filter(lambda tool: "orders" in tool.name).rename({"shop.orders": "shop.find"})
    async with Session([source], policy=OPEN, store=False) as session:
        assert (await session.run("return await shop.find(customer='bob')")).value == [3]
        assert list(session.tools) == ["shop.find"]


async def test_a_program_that_is_missing_is_told_and_harms_nobody_else() -> None:
    missing = mcp_server(["no-such-program-anywhere"], name="gone")
    async with Session([missing, shop()], policy=OPEN, store=False) as session:
        assert (await session.run("return await shop.total(order=3)")).value == 7.0
        lost = await session.call("gone.anything")
    assert lost.error is not None
    assert "no-such-program-anywhere" in missing.problem
    with pytest.raises(ConfigError, match="no-such-program-anywhere"):
        async with missing:
            pass


async def test_its_environment_is_what_its_definition_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "not for servers")
    spec = ServerSpec(command=npm_server("everything"), env={"GIVEN": "yes"})
    async with Session([mcp_server(spec, name="every")], policy=OPEN, store=False) as session:
        result = await session.run("return await every.get_env()")
    assert "SOME_TOKEN" not in str(result.value)
    assert '"GIVEN": "yes"' in str(result.value)


async def test_an_image_is_a_handle_that_the_source_resolves() -> None:
    source = mcp_server(npm_server("everything"), name="everything")
    async with Session([source], policy=OPEN, store=False) as session:
        result = await session.run("return (await everything.get_tiny_image())[1]")
    image: Any = result.value
    content = source.content(image["handle"])
    assert content.mime_type == image["mime_type"] == "image/png"
    assert len(content.data) == image["bytes"]
    with pytest.raises(LookupError):
        source.content("image-of-somebody-else")


async def test_it_is_open_in_one_session_at_a_time() -> None:
    source = shop()
    async with Session([source], policy=OPEN, store=False):
        with pytest.raises(ConfigError, match="open in another session"):
            async with source.opened(lambda: None):
                pass


async def test_a_tool_of_a_closed_source_says_so() -> None:
    async with shop() as tools:
        kept = tools
    async with Session([kept], policy=OPEN, store=False) as session:
        result = await session.call("shop.total", {"order": 1})
    assert result.error is not None
    assert "it is closed" in result.error.message


def test_an_unusable_name_or_definition_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="reserved"):
        McpServer(["x"], name="asyncio")
    with pytest.raises(ConfigError, match="cannot name"):
        McpServer(["x"], name="a.b")
    with pytest.raises(ConfigError, match="either a command or a url"):
        ServerSpec()
    with pytest.raises(ConfigError, match="no MCP server"):
        McpServer(object())
    assert ToolError("E_TOOL_FAILED", "x").code == "E_TOOL_FAILED"


def _dedented(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    cut = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[cut:] for line in lines)
