"""Who may go when."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lineshaft import Context, Policy, Session, WorkspacePath, kit, tool
from lineshaft.gate._lanes import CallLine, CallPlace, Lanes, Ticket, held_around
from lineshaft.testing import ScriptedEngine
from lineshaft.values import Call, Caller, ToolSpec

WRITE = ToolSpec(name="write", effect="write", lane="workspace")
READ = ToolSpec(name="read", effect="read", paths=(("path",),))
FETCH = ToolSpec(name="web.fetch", effect="external", lane="web")


def place(spec: ToolSpec, lanes: Lanes, order: CallLine) -> CallPlace:
    return CallPlace(spec, lanes=lanes, order=order, held=held_around())


def going(ticket: Ticket) -> bool:
    return ticket.granted.is_set()


def test_exclusive_tickets_go_one_at_a_time_in_the_order_they_came() -> None:
    line = CallLine()
    first, second = line.join(), line.join()
    assert (going(first), going(second)) == (True, False)
    line.leave(first)
    assert going(second)


def test_shared_tickets_go_together_and_an_exclusive_one_waits_for_all() -> None:
    line = CallLine()
    one, two, alone, three = (line.join(shared=shared) for shared in (True, True, False, True))
    assert [going(t) for t in (one, two, alone, three)] == [True, True, False, False]
    line.leave(one)
    assert not going(alone)
    line.leave(two)
    assert (going(alone), going(three)) == (True, False)
    line.leave(alone)
    assert going(three)


def test_who_leaves_before_its_turn_is_passed_over() -> None:
    line = CallLine()
    first, gives_up, last = line.join(), line.join(), line.join()
    line.leave(gives_up)
    line.leave(first)
    assert going(last)
    assert not going(gives_up)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=40))
def test_nobody_runs_beside_an_exclusive_one_and_nobody_starves(
    steps: list[tuple[bool, int]],
) -> None:
    line = CallLine()
    inside: list[Ticket] = []
    everyone: list[Ticket] = []
    for shared, leaver in steps:
        everyone.append(line.join(shared=shared))
        inside = [t for t in everyone if going(t) and not t.gone]
        if any(not t.shared for t in inside):
            assert len(inside) == 1
        if inside:
            line.leave(inside[leaver % len(inside)])
    for ticket in everyone:
        line.leave(ticket)
    assert line.idle


def test_a_read_of_a_file_waits_for_an_earlier_write_of_its_run_only() -> None:
    lanes, order, other_run = Lanes(), CallLine(), CallLine()
    places = [
        place(WRITE, lanes, order),
        place(READ, lanes, order),
        place(READ, lanes, other_run),
    ]
    for each in places:
        each.join()
    assert [each.granted for each in places] == [True, False, True]
    places[0].leave()
    assert places[1].granted


def test_two_lanes_do_not_wait_for_each_other() -> None:
    lanes, order = Lanes(), CallLine()
    write, fetch = (place(spec, lanes, order) for spec in (WRITE, FETCH))
    write.join()
    fetch.join()
    assert write.granted
    assert fetch.granted


def test_lanes_of_two_runs_are_one() -> None:
    lanes = Lanes()
    mine, theirs = (place(WRITE, lanes, CallLine()) for _ in range(2))
    mine.join()
    theirs.join()
    assert (mine.granted, theirs.granted) == (True, False)
    mine.leave()
    assert theirs.granted


async def test_a_call_inside_a_turn_does_not_wait_for_that_turn() -> None:
    lanes = Lanes()
    outer = place(WRITE, lanes, CallLine())
    outer.join()
    outer.hold("outer")
    inner, sibling = (place(WRITE, lanes, CallLine()) for _ in range(2))
    inner.join()
    sibling.join()
    assert (inner.granted, sibling.granted) == (True, False)


async def test_a_call_that_asks_in_its_lane_and_one_that_waits_for_it_both_end(
    tmp_path: Path,
) -> None:
    @tool(effect="read", lane="archive")
    async def look(path: WorkspacePath, ask: bool, context: Context) -> str:
        """Look, and ask first."""
        if ask:
            await context.elicit("Go on?", {"type": "object", "properties": {}})
        return str(path)

    async def elicit(message: str, schema: Mapping[str, object]) -> Mapping[str, object]:
        for _ in range(200):  # the other calls come meanwhile
            await asyncio.sleep(0)
        return {"action": "accept"}

    calls = [
        Call(tool="look", arguments={"path": "a", "ask": True}, origin="script"),
        Call(tool="write_file", arguments={"path": "b", "content": "x"}, origin="script"),
        Call(tool="look", arguments={"path": "c", "ask": False}, origin="script"),
    ]
    tools = [look, kit.tools("write_file")]
    opened = Policy(mode="open")
    async with Session(
        tools, workspace=tmp_path, engine=ScriptedEngine([calls]), policy=opened, store=False
    ) as session:
        async with asyncio.timeout(60):
            result = await session.run("anything", caller=Caller(elicit=elicit))
    assert [call.status for call in result.calls] == ["done", "done", "done"]
