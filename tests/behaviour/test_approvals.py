"""Approvals: whatever becomes of the one who is asked, no call runs without a yes."""

import asyncio
from collections.abc import Callable, Mapping
from typing import cast

import anyio
import pytest

from lineshaft import Answer, Context, Limits, Pending, Policy, Session, tool
from lineshaft.values import Approver, Call, Value
from support import Make, Outside

ASK = {"id": "ask-poke", "tool": "poke", "verdict": "ask", "reason": "it pokes"}
ASKING = Policy.from_dict({"mode": "open", "rules": [ASK]})

Asked = tuple[Pending, ...]


def approver(give: Callable[[Asked], object]) -> Approver:
    """Return an approver that gives what it should not."""

    async def answer(pending: Asked) -> Mapping[str, Answer]:
        return cast("Mapping[str, Answer]", give(pending))

    return answer


def nothing(_: Asked) -> object:
    return None


def a_list(_: Asked) -> object:
    return ["yes"]


def truth(pending: Asked) -> object:
    return {call.id: True for call in pending}


def for_another(_: Asked) -> object:
    return {"another": Answer(allow=True)}


def leave(_: Asked) -> object:
    raise GeneratorExit


def disconnect(_: Asked) -> object:
    raise asyncio.CancelledError


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("give", "reason"),
    [
        (nothing, "it gave None, not answers by id: `return {call.id: Answer("),
        (a_list, "it gave ['yes'], not answers by id: `return {call.id: Answer("),
        (truth, "it gave True, not an Answer: `return {call.id: Answer("),
        (for_another, "none was given"),
        (leave, "GeneratorExit"),
        (disconnect, "cancelled itself"),
    ],
)
async def test_an_approver_that_gives_no_answer_has_not_approved(
    make: Make, outside: Outside, give: Callable[[Asked], object], reason: str
) -> None:
    async with make(policy=ASKING, approver=approver(give), store=False) as session:
        result = await session.run("await poke()")
        direct = await session.call("poke")
    for error in (result.error, direct.error):
        assert error is not None
        assert error.code == "E_DENIED"
        assert reason in error.message
    assert outside.total == 0


@pytest.mark.behaviour("A2")
async def test_an_approver_may_answer_for_all_that_it_does_not_name(
    make: Make, outside: Outside
) -> None:
    async def answer(pending: Asked) -> Mapping[str, Answer]:
        first = min(call.id for call in pending)
        return {first: Answer(allow=False, reason="not this one"), "*": Answer(allow=True)}

    script = (
        "done = await asyncio.gather(poke(), poke(), poke(), return_exceptions=True)\n"
        "return [str(each) for each in done]"
    )
    async with make(policy=ASKING, approver=answer, store=False) as session:
        result = await session.run(script)
    assert sum("not this one" in each for each in cast("list[str]", result.value)) == 1
    assert outside.total == 2


async def slow(pending: Asked) -> Mapping[str, Answer]:
    """Say yes, later than any call or run may take."""
    with anyio.move_on_after(0.8):
        await anyio.sleep_forever()
    return {call.id: Answer(allow=True) for call in pending}


@tool(effect="external", container=True)
async def contains(context: Context) -> object:
    """Poke from inside."""
    done = await context.dispatch(Call(tool="poke", arguments={}, origin="code"))
    return done.value if isinstance(done, Value) else done.message


@tool(effect="external", container=True)
async def nests(context: Context) -> object:
    """Poke in a run of its own."""
    session = cast("list[Session]", context.deps)[0]
    return (await session.run("return await poke()")).value


@pytest.mark.behaviour("A2")
@pytest.mark.parametrize("name", ["contains", "nests"])
async def test_the_clocks_around_an_ask_stand_still_too(
    make: Make, outside: Outside, name: str
) -> None:
    sessions: list[Session] = []
    limits = Limits(seconds=0.4, call_seconds=0.4)
    tools = (contains, nests)
    async with make(*tools, policy=ASKING, approver=slow, limits=limits, deps=sessions) as session:
        sessions.append(session)
        result = await session.run(f"return await {name}()")
        direct = await session.call(name)
    assert (result.value, direct.value) == (1, 2)
    assert outside.total == 2


@pytest.mark.behaviour("A2")
async def test_a_container_called_by_itself_ends_with_the_time_of_a_run(make: Make) -> None:
    @tool(effect="read", container=True)
    async def waits() -> None:
        """Wait for ever."""
        await anyio.sleep_forever()

    with anyio.fail_after(10):
        async with make(waits, limits=Limits(seconds=0.1)) as session:
            done = await session.call("waits")
    assert done.error is not None
    assert (done.error.code, done.exit_code) == ("E_TIMEOUT", 4)
