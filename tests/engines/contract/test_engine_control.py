"""Control from outside: cancellation and pause. Nothing of a script runs behind its back."""

import asyncio
from collections.abc import Collection
from contextvars import ContextVar
from typing import Literal, NoReturn

import anyio
import pytest

from engines.play import LIMITS, TOOLS, Play, forever, fresh, unseen
from lineshaft.values import (
    Call,
    Diverged,
    Done,
    Engine,
    Limits,
    Program,
    Returned,
    Stream,
    Suspended,
)

HELD: dict[str, str] = {
    "at a call": "try:\n    await hold()\nfinally:\n    await give(1)",
    "at a call that catches all": (
        "try:\n    await hold()\nexcept BaseException:\n    await give(1)\nawait give(2)"
    ),
    "at calls at once": "await asyncio.gather(hold(), hold(), hold())\nawait give(1)",
    "beside a sleep": "await asyncio.gather(hold(), asyncio.sleep(1000))",
}


@pytest.mark.parametrize("source", HELD.values(), ids=HELD)
async def test_a_cancelled_run_ends_its_calls_and_makes_no_more(play: Play, source: str) -> None:
    task = asyncio.create_task(play(source))
    await play.held.wait()
    await asyncio.sleep(0)  # let the other calls begin
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert set(play.tools) == {"hold"}
    assert play.cancelled == [call.id for call in play.calls]
    assert await play.value("1") == 1


COMPUTING: dict[str, str] = {
    "a loop": "await give(0)\nwhile True: pass",
    "a loop that would clean up": (
        "await give(0)\ntry:\n    while True: pass\nfinally:\n    await give(1)"
    ),
    "a loop that prints": "await give(0)\nwhile True: print('x')",
    "a loop of calls": "while True: await give(0)",
    "a loop of failing calls": (
        "while True:\n    try:\n        await fail('E', 'm')\n    except ToolError:\n        pass"
    ),
}


@pytest.mark.parametrize("source", COMPUTING.values(), ids=COMPUTING)
async def test_a_script_that_computes_is_cancelled_too(play: Play, source: str) -> None:
    task = asyncio.create_task(play(source, limits=Limits(seconds=60, stdout_bytes=10**9)))
    while not play.calls:
        await asyncio.sleep(0.001)
    task.cancel()
    with anyio.fail_after(5), pytest.raises(asyncio.CancelledError):
        await task
    before = len(play.calls)
    assert await play.value("1") == 1
    assert len(play.calls) == before


async def test_a_run_may_be_cancelled_at_any_moment(play: Play) -> None:
    for moment in range(60):
        play.calls.clear()
        task = asyncio.create_task(play("for n in range(9): await give(n)\nprint(n)"))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        try:
            outcome = await task
        except asyncio.CancelledError:
            before = len(play.calls), len(play.output)
            await asyncio.sleep(0.002)
            assert (len(play.calls), len(play.output)) == before
        else:
            assert outcome == Returned(value=None)


async def test_a_deadline_around_a_run_ends_it(play: Play) -> None:
    with anyio.move_on_after(0.05) as scope:
        await play("while True: pass")
    assert scope.cancelled_caught

    async def hold() -> None:
        async with asyncio.timeout(None) as deadline:
            striking = asyncio.create_task(strike(deadline))
            await play("await hold()")
        await striking

    async def strike(deadline: asyncio.Timeout) -> None:
        await play.held.wait()
        deadline.reschedule(asyncio.get_running_loop().time())

    with pytest.raises(TimeoutError):
        await hold()
    assert play.cancelled == ["1"]


async def test_a_cancelled_run_waits_for_calls_that_take_their_time_to_end(play: Play) -> None:
    play.lingers = 0.02
    task = asyncio.create_task(play("await asyncio.gather(hold(), hold())\nawait hold()"))
    await play.held.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.cancelled == ["1", "2"]


async def test_calls_that_nobody_waits_for_are_cancelled_at_the_end(play: Play) -> None:
    source = """
try:
    await asyncio.gather(hold(), fail("E_STALE", "x"))
except ToolError as e:
    return e.code
"""
    assert await play.value(source) == "E_STALE"
    assert play.cancelled == ["1"]


async def test_waiting_is_told_of_the_calls_that_block(play: Play) -> None:
    def says(ids: Collection[str]) -> Literal["wait"]:
        if set(ids) == {"1", "3"}:
            play.release()
        return "wait"

    play.says = says
    await play.value("await asyncio.gather(hold(), give(1), hold())")
    assert sorted(play.asked[-1]) == ["1", "3"]


async def test_waiting_is_asked_anew_when_a_completion_was_of_no_help(play: Play) -> None:
    play.says = lambda ids: "suspend" if len(ids) == 1 else "wait"
    play.freed = {"2"}
    source = "await asyncio.gather(hold(), meet(2), meet(2))"
    assert await play(source, replay=fresh()) == Suspended()
    assert play.asked[-1] == ("1",)


async def test_waiting_that_says_wait_at_once_is_not_asked_in_a_loop(engine: Engine) -> None:
    play = Play(engine)
    asked: list[Collection[str]] = []

    async def waiting(ids: Collection[str]) -> Literal["wait", "suspend"]:
        asked.append(ids)
        return "wait"

    program = Program(source="return await hold()", tools=TOOLS)
    run = engine.run(program, play.dispatch, limits=LIMITS, output=unseen, waiting=waiting)
    task = asyncio.create_task(run)
    await play.held.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    play.release()
    assert await task == Returned(value="1")
    assert len(asked) <= 1


async def test_an_error_of_waiting_or_of_a_dispatch_is_raised_where_the_run_is_awaited(
    engine: Engine,
) -> None:
    class Broken(Exception):
        pass

    async def breaks(*_: object) -> NoReturn:
        raise Broken

    async def holds(_: Call) -> NoReturn:
        await anyio.sleep_forever()
        raise AssertionError

    program = Program(source="await hold()\nprint('after')", tools=TOOLS)
    printed: list[str] = []
    for dispatch, waiting in ((breaks, Play(engine).dispatch), (holds, breaks)):
        with anyio.fail_after(10), pytest.raises(Broken):
            await engine.run(
                program,
                dispatch,
                limits=LIMITS,
                output=lambda _, text: printed.append(text),
                waiting=waiting,  # pyright: ignore[reportArgumentType]  it is not asked, or breaks
            )
    assert printed == []


async def test_waiting_is_not_asked_while_the_script_can_go_on(play: Play) -> None:
    await play.value("for n in range(20): await give(n)\nawait asyncio.sleep(0.03)")
    assert play.asked == []


PAUSED: dict[str, tuple[str, object]] = {
    "at a call": ("a = await give('a')\nb = await hold()\nreturn [a, b]", ["a", "2"]),
    "in a function": (
        "async def f(n):\n    x = n * 2\n    return [await hold(), x]\nreturn await f(4)",
        ["1", 8],
    ),
    "in gather": (
        (
            "async def f(n):\n    return [n, await hold(), await give(n)]\n"
            "return await asyncio.gather(f(1), give(7), f(2))"
        ),
        [[1, "1", 1], 7, [2, "3", 2]],
    ),
    "in a comprehension": ("return [await hold() for _ in range(2)]", ["1", "2"]),
    "in try": (
        (
            "try:\n    await fail('E_STALE', 'x')\nexcept ToolError as e:\n"
            "    h = await hold()\n    return [e.code, e.tool, h]"
        ),
        ["E_STALE", "fail", "2"],
    ),
    "with a call made and not awaited": (
        "a = hold()\nb = give('b')\nh = await hold()\nreturn [await b, h, await a]",
        ["b", "1", "3"],
    ),
    "in retry": ("return await retry(hold, wait=0)", "1"),
}


@pytest.mark.parametrize(("source", "expected"), PAUSED.values(), ids=PAUSED)
async def test_a_suspended_run_goes_on_where_it_was(
    play: Play, source: str, expected: object
) -> None:
    replay = fresh()
    dispatched: list[str] = []
    for _ in range(4):
        play.calls.clear()
        await play.suspend(source, replay)
        dispatched += [call.id for call in play.calls if call.tool != "hold"]
    play.release()
    assert await play(source, replay=replay) == Returned(value=expected)
    assert len(set(dispatched)) == len(dispatched)
    assert not replay.torn


async def test_a_resumed_run_repeats_only_the_calls_that_were_not_done(play: Play) -> None:
    source = (
        "print('one')\na = await asyncio.gather(hold(n=1), give('x'), hold(n=2))\n"
        "print('two')\nreturn a"
    )
    replay = fresh()
    await play.suspend(source, replay)
    assert play.printed == "one\n"
    play.calls.clear()
    play.output.clear()
    play.release()
    assert await play(source, replay=replay) == Returned(value=["1", "x", "3"])
    assert [(c.id, c.tool, dict(c.arguments), c.recorded) for c in play.calls] == [
        ("1", "hold", {"n": 1}, True),
        ("3", "hold", {"n": 2}, True),
    ]
    assert play.printed == "one\ntwo\n"


async def test_a_record_can_be_resumed_in_parts(play: Play) -> None:
    source = "return await asyncio.gather(*[hold(n) for n in range(3)], give(3))"
    replay = fresh()
    for left in ({"1", "2", "3"}, {"1", "3"}, {"3"}):
        play.freed = {"1", "2", "3"} - left
        play.says = lambda ids, left=left: "suspend" if set(ids) == left else "wait"
        play.calls.clear()
        assert await play(source, replay=replay) == Suspended()
        assert left <= {call.id for call in play.calls}
    play.says = lambda ids: "wait"
    play.release()
    play.calls.clear()
    assert await play(source, replay=replay) == Returned(value=["1", "2", "3", 3])
    assert [call.id for call in play.calls] == ["3"]


async def test_a_call_that_ends_while_the_run_is_suspended_is_not_repeated(play: Play) -> None:
    source = "return await asyncio.gather(hold(1), hold(2), hold(3))"
    play.stubborn = {"2"}
    replay = fresh()
    await play.suspend(source, replay)
    play.release()
    play.calls.clear()
    assert await play(source, replay=replay) == Returned(value=["1", "late", "3"])
    assert [call.id for call in play.calls] == ["1", "3"]


async def test_calls_of_a_run_that_was_not_begun_before_are_new(play: Play) -> None:
    await play("await give(1)\nawait give(2)", replay=fresh())
    assert [call.recorded for call in play.calls] == [False, False]


async def test_calls_after_the_record_are_new(play: Play) -> None:
    source = "await give(1)\nawait hold()\nawait give(2)\nawait give(3)"
    replay = fresh()
    await play.suspend(source, replay)
    play.release()
    play.calls.clear()
    assert await play(source, replay=replay) == Returned(value=3)
    assert [(call.id, call.recorded) for call in play.calls] == [
        ("2", True),
        ("3", False),
        ("4", False),
    ]


DIVERGING: dict[str, tuple[str, str]] = {
    "it ends sooner": ("await give(1)\nawait give(2)\nawait hold()", "await give(1)"),
    "it raises sooner": ("await give(1)\nawait give(2)\nawait hold()", "1 / 0"),
    "it waits for another call": (
        "await asyncio.gather(hold(), give(1))\nawait hold()",
        "a = asyncio.ensure_future(hold())\nawait hold()",
    ),
    "it does not wait": ("await asyncio.sleep(0.001)\nawait hold()", "await hold()"),
    "it waits for nothing": ("await give(1)\nawait hold()", "await asyncio.sleep(0.001)"),
    "it looks at clocks more often": (
        "import time\nawait give(1)\nawait hold()",
        "import time\nfor _ in range(9): time.time()\nawait give(1)\nawait hold()",
    ),
    "it looks at clocks less often": (
        "import time\nfor _ in range(9): time.time()\nawait give(1)\nawait hold()",
        "import time\nawait give(1)\nawait hold()",
    ),
}


@pytest.mark.parametrize(("first", "second"), DIVERGING.values(), ids=DIVERGING)
async def test_a_script_that_differs_from_its_record_diverges_and_makes_no_new_call(
    play: Play, first: str, second: str
) -> None:
    replay = fresh()
    play.freed = {"2"} if "gather" in first else set()
    await play.suspend(first, replay)
    play.calls.clear()
    outcome = await play(second, replay=replay)
    assert isinstance(outcome, Diverged), outcome
    assert outcome.message
    assert all(call.recorded for call in play.calls)


async def test_a_run_may_be_cancelled_while_it_is_suspended(play: Play) -> None:
    play.lingers = 0.05
    play.says = lambda ids: "suspend"
    task = asyncio.create_task(play("await asyncio.gather(hold(), hold())"))
    await play.asked_once.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.cancelled == ["1", "2"]


async def test_a_timer_counts_on_the_clock_of_the_run(play: Play) -> None:
    now = 1_000.0
    source = "import time\na = time.monotonic()\nawait asyncio.sleep(0.01)\n"
    source += "return time.monotonic() - a"
    limits = Limits(seconds=10_000)
    task = asyncio.create_task(play(source, clock=lambda: now, limits=limits))
    await asyncio.wait([task], timeout=0.3)
    assert not task.done()
    now += 5
    outcome = await task
    assert isinstance(outcome, Returned)
    assert outcome.value == pytest.approx(5, abs=0.5)  # it computes meanwhile


async def test_what_a_script_prints_while_it_computes_is_seen_at_once(play: Play) -> None:
    task = asyncio.create_task(play("print('begun')\nwhile True: pass"))
    while not play.printed:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.printed == "begun\n"


async def test_a_call_that_the_script_gives_up_is_cancelled_at_once(play: Play) -> None:
    source = """
try:
    await asyncio.wait_for(hold(), 0.02)
except TimeoutError:
    await give("on")
await meet(1)
return "done"
"""
    assert await play.value(source) == "done"
    assert play.cancelled == ["1"]


async def test_the_late_end_of_a_call_that_was_given_up_stops_no_timer(play: Play) -> None:
    play.lingers = 0.1
    source = """
try:
    await asyncio.wait_for(hold(), 0.01)
except TimeoutError:
    pass
done, pending = await asyncio.wait([asyncio.ensure_future(hold())], timeout=0.3)
return len(pending)
"""
    assert await play.value(source) == 1
    assert play.cancelled == ["1", "2"]


async def test_nothing_of_a_script_goes_on_when_it_was_suspended(play: Play) -> None:
    """A call that ends right after it is of no use to this part of the run."""
    play.stubborn = {"1", "2"}
    replay = fresh()
    await play.suspend("await asyncio.gather(hold(), hold())\nprint('on')\nawait give(1)", replay)
    assert (replay.turns, play.printed, play.tools) == ([], "", ["hold", "hold"])


async def test_what_an_output_raises_is_raised_where_the_run_is_awaited(play: Play) -> None:
    class Broken(Exception):
        pass

    def breaks(_stream: Stream, _text: str) -> None:
        raise Broken

    program = Program(source="print('x')\nawait hold()", tools=TOOLS)
    run = play.engine.run(program, play.dispatch, limits=LIMITS, output=breaks, waiting=forever)
    with anyio.fail_after(10), pytest.raises(Broken):
        await run


async def test_calls_run_in_the_context_of_whoever_runs_the_script(play: Play) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen: list[str] = []

    async def dispatch(call: Call) -> Done:
        seen.append(variable.get())
        variable.set("changed by a call")
        return await play.dispatch(call)

    variable.set("the caller's")
    program = Program(source="await give(1)\nawait give(2)\nawait give(3)", tools=TOOLS)
    await play.engine.run(program, dispatch, limits=LIMITS, output=unseen, waiting=forever)
    assert seen == ["the caller's"] * 3


async def test_a_run_inside_a_call_of_a_run(play: Play) -> None:
    inner = "return await nest('return await give(3)')"
    assert await play.value("return await nest(script)", script=inner) == 3


async def test_a_timer_beside_a_call_keeps_nobody_from_being_asked(play: Play) -> None:
    play.says = lambda ids: "suspend"
    script = "async with asyncio.timeout(600):\n    return await hold()"
    assert isinstance(await play(script), Suspended)
    assert play.asked == [("1",)]


async def test_a_timer_beside_a_call_ends_the_wait_for_it(play: Play) -> None:
    script = (
        "try:\n    async with asyncio.timeout(0.01):\n        await hold()\n"
        "except TimeoutError:\n    return [await give('late'), await give('later')]"
    )
    assert await play.value(script) == ["late", "later"]
    assert play.tools == ["hold", "give", "give"]
