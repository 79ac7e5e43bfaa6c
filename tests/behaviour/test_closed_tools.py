"""What policy denies whatever the arguments is told to nobody, and refused by its rule."""

from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client

from lineshaft import Policy, Tool
from lineshaft.mcp.front import Front, front_server
from lineshaft.values import Event
from support import Make

pytestmark = pytest.mark.behaviour("A5")

RULE = {"id": "no-sending", "tool": "send_letter", "verdict": "deny", "reason": "not by post"}
POLICY = Policy.from_dict({"mode": "open", "rules": [RULE]})
WORDS = ("send_letter", "stamp", "by pigeon")
"""The tool's name, a parameter of it, and a word of its description."""


def letters() -> Tool:
    """Return a tool that is closed by a rule."""

    def send_letter(stamp: int) -> dict[str, int]:
        """Send a letter by pigeon."""
        raise AssertionError(stamp)

    return Tool.from_function(send_letter, effect="external")


def sorter() -> Tool:
    """Return a tool of a near name that is open."""

    def sort_letters(name: str) -> str:
        """Sort letters by their names."""
        return name

    return Tool.from_function(sort_letters, effect="read")


async def test_a_closed_tool_stands_in_nothing_that_is_told(make: Make) -> None:
    async with make(letters(), sorter(), policy=POLICY) as session:
        told: list[object] = [
            session.definitions("anthropic", direct=["send_letter", "sort_letters"]),
            session.instructions(),
            session.tools.stubs(),
            session.tools.stubs("typescript"),
            [spec.name for spec in session.tools.search("send a letter by pigeon")],
            (await session.run('return await search_tools("send a letter by pigeon")')).value,
            session.namespaces(),
        ]
        described = await session.call("describe_tool", {"name": "send_letter"})
    for text in map(str, told):
        assert not [word for word in WORDS if word in text]
    assert "sort_letters" in str(told[0])
    assert described.error is not None
    assert "stamp" not in described.error.message


@pytest.mark.parametrize("mode", ["plan", "read"])
async def test_where_only_reads_run_no_tool_that_writes_is_advertised(
    make: Make, mode: str
) -> None:
    async with make(policy=Policy.from_dict({"mode": mode})) as session:
        texts = [str(session.definitions("openai", direct=["read_file", "write_file"]))]
        texts += [session.instructions(), session.tools.stubs()]
        names = {spec.name for spec in session.tools.values()}
    for text in texts:
        assert "read_file" in text
        assert not [name for name in ("write_file", "run_command", "delete_file") if name in text]
    assert names.isdisjoint({"write_file", "run_command", "delete_file"})


CALLS = {
    "as it should be": "return await send_letter(stamp=1)",
    "with a wrong argument": 'return await send_letter(stamp="x", colour=1)',
    "by position": "return await send_letter(1, 2, 3)",
    "its result used as anything": "return (await send_letter())['a'][1].b",
}


@pytest.mark.parametrize("script", CALLS.values(), ids=CALLS)
async def test_a_script_that_calls_a_closed_tool_passes_the_check_and_meets_its_rule(
    make: Make, script: str
) -> None:
    async with make(letters(), policy=POLICY) as session:
        found = await session.check(script)
        result = await session.run(script)
    assert not found
    assert [call.rule for call in result.calls] == ["no-sending"]
    assert result.error is not None
    assert result.error.code == "E_DENIED"
    assert "(rule 'no-sending'): not by post" in result.error.message
    assert "stamp: int" not in str(result)


@pytest.mark.parametrize("arguments", [{"stamp": 1}, {}, {"stamp": "x", "colour": 2}])
async def test_a_call_of_a_closed_tool_meets_its_rule_by_every_way_in(
    make: Make, arguments: Mapping[str, Any]
) -> None:
    events: list[Event] = []
    async with (
        make(letters(), policy=POLICY, sinks=[events.append]) as session,
        front_server(Front(session)) as server,
        Client(server) as client,
    ):
        called = await session.call("send_letter", arguments)
        handled = await session.handle("send_letter", arguments)
        by_client = await client.call_tool("send_letter", dict(arguments))
    assert called.rule == "no-sending"
    for text in (str(called.error), handled.text, str(by_client.content)):
        assert "E_DENIED" in text
        assert "no-sending" in text
        assert "integer" not in text
    assert handled.is_error
    assert by_client.is_error
    asked = [event.data for event in events if event.kind == "call_asked"]
    assert [each["origin"] for each in asked] == ["code", "model", "mcp"]
    verdicts = [event.data for event in events if event.kind == "verdict"]
    assert [each["rule"] for each in verdicts] == ["no-sending"] * 3


async def test_a_stop_ends_the_run_whatever_is_wrong_with_the_call(make: Make) -> None:
    policy = Policy.from_dict({"mode": "open", "rules": [{**RULE, "verdict": "stop"}]})
    async with make(letters(), policy=policy) as session:
        result = await session.run("try:\n    await send_letter()\nexcept ToolError:\n    return 1")
    assert (result.status, result.value) == ("refused", None)
    assert [call.rule for call in result.calls] == ["no-sending"]


async def test_no_hint_names_a_closed_tool(make: Make) -> None:
    scripts = (
        "return await send_leter(stamp=1)",
        "return await tools.send_leter(stamp=1)",
        'return await getattr(tools, "send" + "_leter")(stamp=1)',
        "return await send_letter.there()",
    )
    async with make(letters(), policy=POLICY) as session:
        texts = [str((await session.run(script)).error) for script in scripts]
        texts.append(str((await session.call("send_leter")).error))
        texts.append((await session.handle("send_leter", {})).text)
    for text in texts:
        assert "did you mean" not in text
        assert "stamp: int" not in text


async def test_a_client_is_told_of_no_closed_tool(make: Make) -> None:
    async with (
        make(letters(), sorter(), policy=POLICY) as session,
        front_server(Front(session, direct=["*letter*"])) as server,
        Client(server) as client,
    ):
        listed = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", {"words": "send a letter by pigeon"})
        described = await client.call_tool("describe", {"names": ["send_letter"]})
    assert "sort_letters" in listed
    assert "send_letter" not in listed
    for text in (str(found.content), str(described.content)):
        assert "stamp" not in text
        assert "pigeon" not in text


async def test_a_tool_that_is_open_for_some_paths_or_to_some_ways_in_is_told_there(
    make: Make,
) -> None:
    rules = [
        {"id": "notes", "tool": "write_file", "path": "notes/**", "verdict": "allow"},
        {"id": "by-model", "tool": "edit_file", "origin": "model", "verdict": "allow"},
    ]
    policy = Policy.from_dict({"mode": "read", "rules": rules})
    async with make(policy=policy) as session:
        script, *direct = session.definitions("mcp", direct=["edit_file", "delete_file"])
    assert "def write_file(" in script["description"]
    assert "def edit_file(" not in script["description"]
    assert [each["name"] for each in direct] == ["edit_file"]


@pytest.mark.parametrize("arguments", ["stamp='x', colour=1", "stamp=1"])
async def test_a_rule_that_stops_ends_the_run_also_at_a_malformed_call(
    make: Make, arguments: str
) -> None:
    policy = Policy.from_dict({"mode": "open", "rules": [RULE | {"verdict": "stop"}]})
    script = f"""
try:
    await send_letter({arguments})
except ToolError:
    pass
return await sort_letters(name="after")
"""
    async with make(letters(), sorter(), policy=policy) as session:
        result = await session.run(script)
    assert result.status == "refused"
    assert result.error is not None
    assert "no-sending" in result.error.message
    assert [call.status for call in result.calls] == ["refused"]


async def test_a_near_name_of_a_closed_tool_is_no_hint(make: Make) -> None:
    async with make(letters(), sorter(), policy=POLICY) as session:
        closed = await session.call("send_lettter", {})
        open_ = await session.call("sort_leters", {})
    assert closed.error is not None
    assert "send_letter'" not in closed.error.hint
    assert open_.error is not None
    assert open_.error.hint == "did you mean 'sort_letters'?"
