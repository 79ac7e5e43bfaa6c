"""Who is behind a run: answers, questions, events, trace."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.lowlevel

from lineshaft import (
    Answer,
    Caller,
    Context,
    Event,
    Limits,
    Pending,
    Policy,
    Session,
    ToolError,
    tool,
)

ASKS = Policy.from_dict({"mode": "open", "rules": [{"id": "r", "tool": "put", "verdict": "ask"}]})


@tool(effect="external")
async def put(what: str) -> str:
    """Put something somewhere."""
    return what


@tool(effect="read")
async def who(context: Context) -> object:
    """Ask who is there."""
    context.progress(1, 2, "asking")
    return await context.elicit("your name?", {"type": "string"})


async def yes(waiting: tuple[Pending, ...]) -> Mapping[str, Answer]:
    return {each.id: Answer(allow=True) for each in waiting}


async def no(waiting: tuple[Pending, ...]) -> Mapping[str, Answer]:
    return {each.id: Answer(allow=False, reason="not today") for each in waiting}


async def test_each_run_asks_whoever_is_behind_it(tmp_path: Path) -> None:
    script = "try:\n    return await put(what='x')\nexcept ToolError as e:\n    return e.message"
    async with Session([put], workspace=tmp_path, policy=ASKS, approver=no) as session:
        own = await session.run(script, caller=Caller(approver=yes))
        default = await session.run(script)
        called = await session.call("put", {"what": "y"}, caller=Caller(approver=yes))
    assert own.value == "x"
    assert "not today" in str(default.value)
    assert called.value == "y"


async def test_one_who_does_not_answer_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def silent(waiting: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError(waiting)

    async with Session([put], workspace=tmp_path, policy=ASKS) as session:
        stuck = await session.start("return await put(what='x')", caller=Caller(approver=silent))
        await asked.wait()
        other = await session.run("return await put(what='y')", caller=Caller(approver=yes))
        stuck.cancel()
        assert (await stuck.result()).status == "cancelled"
    assert other.value == "y"


async def test_a_paused_run_goes_on_with_another_caller(tmp_path: Path) -> None:
    async with Session([put], workspace=tmp_path, policy=ASKS) as session:
        paused = await session.run("return await put(what='x')", caller=Caller(origin="mcp"))
        assert paused.status == "paused"
        done = await session.resume(paused.run_id, caller=Caller(approver=yes))
    assert done.value == "x"


async def test_what_a_tool_asks_reaches_the_person_with_its_name(tmp_path: Path) -> None:
    heard: list[object] = []

    async def answer(message: str, schema: Mapping[str, object]) -> object:
        heard.append((message, schema))
        return "Ada"

    async with Session([who], workspace=tmp_path) as session:
        result = await session.run("return await who()", caller=Caller(elicit=answer))
        nobody = await session.run("return await who()")
    assert result.value == "Ada"
    assert heard == [("who: your name?", {"type": "string"})]
    assert nobody.error is not None
    assert nobody.error.code == "E_DENIED"


async def test_a_question_that_is_refused_or_breaks_is_an_error_of_the_call(tmp_path: Path) -> None:
    async def declines(message: str, schema: Mapping[str, object]) -> object:
        raise ToolError("E_DENIED", "they would not say")

    async def breaks(message: str, schema: Mapping[str, object]) -> object:
        raise ValueError("no screen")

    async with Session([who], workspace=tmp_path, elicit=declines) as session:
        refused = await session.run("return await who()")
        broken = await session.run("return await who()", caller=Caller(elicit=breaks))
    assert refused.error is not None
    assert "they would not say" in refused.error.message
    assert broken.error is not None
    assert broken.error.code == "E_DENIED"
    assert "no screen" in broken.error.message


async def test_clocks_stand_still_while_a_person_thinks(tmp_path: Path) -> None:
    async def slow(message: str, schema: Mapping[str, object]) -> object:
        started = anyio.current_time()
        while anyio.current_time() < started + 1.2:  # longer than the run and the call may take
            await anyio.lowlevel.checkpoint()
        return "Ada"

    limits = Limits(seconds=1, call_seconds=1)
    async with Session([who], workspace=tmp_path, elicit=slow, limits=limits) as session:
        result = await session.run("return await who()")
    assert result.value == "Ada"


async def test_events_of_a_run_go_to_its_caller_alone(tmp_path: Path) -> None:
    mine: list[Event] = []
    script = "try:\n    await who()\nexcept ToolError:\n    pass"
    async with Session([who], workspace=tmp_path) as session:
        await session.run(script, caller=Caller(sink=mine.append))
        count = len(mine)
        await session.run("return 1")
    kinds = [event.kind for event in mine]
    assert kinds[0] == "run_started"
    assert "progress" in kinds
    assert len(mine) == count


async def test_the_trace_of_a_caller_reaches_its_tools(tmp_path: Path) -> None:
    @tool(effect="read")
    async def seen(context: Context) -> dict[str, str]:
        """Tell the trace."""
        return dict(context.trace)

    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    async with Session([seen], workspace=tmp_path) as session:
        result = await session.run("return await seen()", caller=Caller(trace=trace))
    assert result.value == trace


async def test_a_run_that_came_in_over_mcp_has_the_limits_of_a_model(tmp_path: Path) -> None:
    @tool(effect="read", lane=None)
    async def tick() -> int:
        """Tick."""
        return 1

    script = "for _ in range(60):\n    await tick()"
    async with Session([tick], workspace=tmp_path) as session:
        outside = await session.run(script, caller=Caller(origin="mcp"))
        inside = await session.run(script)
    assert outside.error is not None
    assert outside.error.code == "E_CALL_LIMIT"
    assert inside.status == "success"


async def test_who_is_asked_keeps_no_other_run_waiting(tmp_path: Path) -> None:
    asked, over = anyio.Event(), anyio.Event()
    done: list[str] = []

    @tool(effect="external", name="shop.ask")
    async def ask(context: Context) -> object:
        """Ask, and then act."""
        said = await context.elicit("how many?", {"type": "integer"})
        done.append("asked")
        return said

    @tool(effect="external", name="shop.act")
    async def act() -> str:
        """Act."""
        done.append("acted")
        return "acted"

    async def slow(message: str, schema: Mapping[str, object]) -> object:
        asked.set()
        await over.wait()
        return 3

    policy = Policy(mode="open")
    async with Session([ask, act], workspace=tmp_path, policy=policy, store=False) as session:
        first = await session.start("return await shop.ask()", caller=Caller(elicit=slow))
        await asked.wait()
        with anyio.fail_after(30):
            other = await session.run("return await shop.act()")
        over.set()
        result = await first.result()
    assert (other.value, result.value) == ("acted", 3)
    assert done == ["acted", "asked"]
