"""A call that waits while its tool comes to take other arguments: the yes was for another call."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

import pytest

from control.world import Open
from lineshaft import Answer, Pending, Policy, Tool, Toolset

YES, NO = Answer(allow=True), Answer(allow=False)

ASKS = {"id": "ask-wipe", "tool": "wipe", "verdict": "ask", "reason": "it wipes"}

TO_ONE: Mapping[str, object] = {"type": "object", "properties": {"disk": {"type": "string"}}}
TO_MORE: Mapping[str, object] = {
    "type": "object",
    "properties": {"disk": {"type": "string"}, "mirrors": {"type": "boolean", "default": True}},
}

SCRIPT = 'return await wipe(disk="one")'


class Server:
    """A server whose tool is listed with one schema, then with another."""

    def __init__(self) -> None:
        self.wiped: list[Mapping[str, object]] = []

    def tool(self, schema: Mapping[str, object], about: str = "Wipe a disk.") -> Tool[..., object]:
        """Return the tool as it is listed now."""

        async def wipe(**given: object) -> str:
            self.wiped.append(given)
            return "wiped"

        return Tool.from_schema(
            name="wipe", description=about, input_schema=schema, function=wipe, effect="external"
        )


@pytest.fixture
def server() -> Server:
    """Return a server."""
    return Server()


async def test_a_yes_does_not_hold_where_the_tool_takes_other_arguments_now(
    opened: Open, server: Server
) -> None:
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(TO_MORE), rules=[ASKS]) as session:
        again = await session.resume(waits.run_id, {"*": YES})
        assert (again.status, server.wiped) == ("paused", [])
        (call,) = again.pending
        assert call.id == waits.pending[0].id
        assert call.reason == (
            "it wipes; the arguments of this tool have changed since the call was shown"
        )
    async with opened(server.tool(TO_MORE), rules=[ASKS]) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert (done.value, server.wiped) == ("wiped", [{"disk": "one"}])


async def test_an_approver_who_is_there_is_asked_at_once(opened: Open, server: Server) -> None:
    reasons: list[str] = []

    async def approve(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        reasons.extend(each.reason for each in pending)
        return {"*": YES}

    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(TO_MORE), rules=[ASKS], approver=approve) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert (done.value, len(server.wiped)) == ("wiped", 1)
    assert [reason.partition("; ")[2] for reason in reasons] == [
        "the arguments of this tool have changed since the call was shown"
    ]


async def test_a_call_alone_waits_again_too(opened: Open, server: Server) -> None:
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.call("wipe", {"disk": "one"})
    async with opened(server.tool(TO_MORE), rules=[ASKS]) as session:
        again = await session.resume(waits.run_id, {"*": YES})
        assert (again.status, server.wiped) == ("paused", [])
        await session.resume(waits.run_id, {"*": YES})
    assert server.wiped == [{"disk": "one"}]


async def test_a_no_holds_all_the_same(opened: Open, server: Server) -> None:
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(TO_MORE), rules=[ASKS]) as session:
        done = await session.resume(waits.run_id, {"*": NO})
    assert done.error is not None
    assert (done.error.code, server.wiped) == ("E_DENIED", [])


async def test_a_yes_to_one_rule_is_none_to_another(opened: Open, server: Server) -> None:
    other = {"id": "no-disks", "tool": "wipe", "verdict": "ask", "reason": "a disk is in use"}
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(TO_ONE), rules=[other]) as session:
        again = await session.resume(waits.run_id, {"*": YES})
        assert (again.status, server.wiped) == ("paused", [])
        (call,) = again.pending
        assert (call.rule, call.reason) == (
            "no-disks",
            "a disk is in use; no such rule asked when the call was shown",
        )
        refused = await session.resume(waits.run_id, {"*": NO})
    assert (refused.status, server.wiped) == ("error", [])


async def test_any_yes_settles_what_the_mode_asks(opened: Open, server: Server) -> None:
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(TO_ONE), policy=Policy(mode="auto")) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert (done.value, len(server.wiped)) == ("wiped", 1)


SAID_OTHERWISE: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "mirrors": {"type": ["null", "boolean"], "description": "Today is Tuesday."},
        "disk": {"enum": ["two", "one"], "title": "The disk"},
    },
    "required": ["mirrors", "disk"],
}
SAID: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "disk": {"enum": ["one", "two"]},
        "mirrors": {"type": ["boolean", "null"], "description": "Today is Monday."},
    },
    "required": ["disk", "mirrors"],
}


async def test_a_yes_holds_where_only_words_and_order_are_others(
    opened: Open, server: Server
) -> None:
    """Some servers write the day into what they say of a tool, or list what was in a set."""
    script = 'return await wipe(disk="one", mirrors=None)'
    async with opened(server.tool(SAID, "On Monday."), rules=[ASKS]) as session:
        waits = await session.run(script)
    async with opened(server.tool(SAID_OTHERWISE, "On Tuesday."), rules=[ASKS]) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert (done.value, len(server.wiped)) == ("wiped", 1)


async def test_a_property_named_as_a_word_about_it_counts(opened: Open, server: Server) -> None:
    more = {"type": "object", "properties": {"disk": {}, "description": {"default": "all"}}}
    async with opened(server.tool(TO_ONE), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    async with opened(server.tool(more), rules=[ASKS]) as session:
        again = await session.resume(waits.run_id, {"*": YES})
    assert (again.status, server.wiped) == ("paused", [])


async def test_a_part_that_is_referred_to_by_the_name_of_a_word_counts(
    opened: Open, server: Server
) -> None:
    def schema(title: Mapping[str, object]) -> Mapping[str, object]:
        disk = {"$ref": "#/parts/title"}
        return {"type": "object", "properties": {"disk": disk}, "parts": {"title": title}}

    async with opened(server.tool(schema({"type": "string"})), rules=[ASKS]) as session:
        waits = await session.run(SCRIPT)
    now = schema({"type": "string", "maxLength": 3})
    async with opened(server.tool(now), rules=[ASKS]) as session:
        again = await session.resume(waits.run_id, {"*": YES})
    assert (again.status, server.wiped) == ("paused", [])


async def test_a_yes_for_the_run_does_not_hold_for_other_arguments(
    opened: Open, server: Server
) -> None:
    script = 'await wipe(disk="one")\nawait poke()\nreturn await wipe(disk="two")'
    poke = {"id": "ask-poke", "tool": "poke", "verdict": "ask"}
    async with opened(server.tool(TO_ONE), rules=[ASKS, poke]) as session:
        first = await session.run(script)
        second = await session.resume(first.run_id, {"*": Answer(allow=True, scope="run")})
        assert [call.tool for call in second.pending] == ["poke"]
    async with opened(server.tool(TO_MORE), rules=[ASKS, poke]) as session:
        third = await session.resume(first.run_id, {"*": YES})
    assert [call.tool for call in third.pending] == ["wipe"]
    assert server.wiped == [{"disk": "one"}]


class Listing:
    """A provider whose list can be changed."""

    name = "disks"
    problem = ""

    def __init__(self, tool: Tool[..., object]) -> None:
        self.tools = Toolset([tool])

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Be there for as long as the block lasts."""
        self._changed = changed
        yield

    async def ready(self) -> None:
        """Be ready at once."""

    def list(self, tool: Tool[..., object]) -> None:
        """List another tool from now on."""
        self.tools = Toolset([tool])
        self._changed()


async def test_a_yes_does_not_hold_where_the_tool_changes_while_the_person_thinks(
    opened: Open, server: Server
) -> None:
    listing = Listing(server.tool(TO_ONE))
    schemas = [TO_MORE, TO_MORE]

    async def approve(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        del pending
        listing.list(server.tool(schemas.pop()))
        return {"*": YES}

    again = (
        "try:\n    await wipe(disk='one')\n"
        "except ToolError as error:\n    code = error.code\n"
        "return code, await wipe(disk='one')"
    )
    async with opened(listing, rules=[ASKS], approver=approve) as session:
        done = await session.run(again)
    assert done.value == ["E_STALE", "wiped"]
    assert server.wiped == [{"disk": "one"}]
