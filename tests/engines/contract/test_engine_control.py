"""Control from outside: cancellation and pause. Nothing of a script runs behind its back."""

import asyncio

import anyio
import pytest

from engines.play import Play
from lineshaft.values import Exceeded, Failure, Limits, Returned, Suspended

HELD: dict[str, str] = {
    "at a call": "try:\n    await hold()\nfinally:\n    await give(1)",
    "at a call in a plain function": (
        "def f():\n    try:\n        return hold()['a']\n    finally:\n        give(1)\nf()"
    ),
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
    def says(ids: object) -> str:
        if len(play.asked) >= 2:
            play.release()
        return "wait"

    play.says = says  # pyright: ignore[reportAttributeAccessIssue]  a Literal
    await play.value("await asyncio.gather(hold(), give(1), hold())")
    assert len(play.asked) >= 2
    assert sorted(play.asked[-1]) == ["1", "3"]


async def test_waiting_is_not_asked_while_the_script_can_go_on(play: Play) -> None:
    await play.value("for n in range(20): await give(n)\nawait asyncio.sleep(0.03)")
    assert play.asked == []
    task = asyncio.create_task(play("await asyncio.gather(hold(), asyncio.sleep(1000))"))
    await play.held.wait()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.asked == []


PAUSED: dict[str, tuple[str, object]] = {
    "at a call": ("a = await give('a')\nb = await hold()\nreturn [a, b]", ["a", "2"]),
    "in a function": (
        "async def f(n):\n    x = n * 2\n    return [await hold(), x]\nreturn await f(4)",
        ["1", 8],
    ),
    "in a plain function": ("def f():\n    return 'x' + hold()\nreturn f()", "x1"),
    "in a method": (
        (
            "class A:\n    def __init__(self):\n        self.x = 5\n"
            "    def m(self):\n        return [self.x, hold()]\nreturn A().m()"
        ),
        [5, "1"],
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
    "in retry": ("return await retry(lambda: hold(), wait=0)", "1"),
}


@pytest.mark.parametrize(("source", "expected"), PAUSED.values(), ids=PAUSED)
async def test_a_suspended_run_goes_on_where_it_was(
    play: Play, source: str, expected: object
) -> None:
    if await play.refuses_to_pause(source):
        return
    state: bytes | None = None
    dispatched: list[str] = []
    for _ in range(4):
        play.says = lambda ids: "suspend"
        play.calls.clear()
        outcome = await play(source, resume=state)
        assert isinstance(outcome, Suspended)
        dispatched += [c.id for c in play.calls if c.tool != "hold"]
        state = outcome.state
        assert state is not None
    play.says = lambda ids: "wait"
    play.release()
    assert await play(source, resume=state) == Returned(value=expected)
    assert len(set(dispatched)) == len(dispatched)


async def test_a_resumed_run_repeats_only_the_calls_that_were_not_done(play: Play) -> None:
    source = (
        "print('one')\na = await asyncio.gather(hold(n=1), give('x'), hold(n=2))\n"
        "print('two')\nreturn a"
    )
    if await play.refuses_to_pause(source):
        return
    state = await play.state(source)
    assert play.printed == "one\n"
    play.calls.clear()
    play.release()
    assert await play(source, resume=state) == Returned(value=["1", "x", "3"])
    assert [(c.id, c.tool, dict(c.arguments)) for c in play.calls] == [
        ("1", "hold", {"n": 1}),
        ("3", "hold", {"n": 2}),
    ]
    assert play.printed == "one\ntwo\n"


async def test_a_state_can_be_resumed_in_parts(play: Play) -> None:
    source = "return await asyncio.gather(*[hold(n) for n in range(3)], give(3))"
    if await play.refuses_to_pause(source):
        return
    state: bytes | None = None
    for left in ({"1", "2", "3"}, {"1", "3"}, {"3"}):
        play.freed = {"1", "2", "3"} - left
        play.says = lambda ids, left=left: "suspend" if set(ids) == left else "wait"
        play.calls.clear()
        outcome = await play(source, resume=state)
        assert isinstance(outcome, Suspended)
        state = outcome.state
        assert left <= {call.id for call in play.calls}
    play.says = lambda ids: "wait"
    play.release()
    play.calls.clear()
    assert await play(source, resume=state) == Returned(value=["1", "2", "3", 3])
    assert [call.id for call in play.calls] == ["3"]


async def test_a_call_that_ends_while_the_run_is_suspended_is_not_repeated(play: Play) -> None:
    source = "return await asyncio.gather(hold(1), hold(2), hold(3))"
    if await play.refuses_to_pause(source):
        return
    play.stubborn = {"2"}
    state = await play.state(source)
    play.release()
    play.calls.clear()
    assert await play(source, resume=state) == Returned(value=["1", "late", "3"])
    assert [call.id for call in play.calls] == ["1", "3"]


async def test_a_call_that_fails_while_the_run_is_suspended_is_not_repeated(play: Play) -> None:
    source = "try:\n    await hold(1)\nexcept ToolError as e:\n    return e.code"
    if await play.refuses_to_pause(source):
        return
    play.stubborn = {"1"}
    play.stubborn_says = Failure("E_STALE", "x")
    state = await play.state(source)
    assert await play(source, resume=state) == Returned(value="E_STALE")
    assert len(play.calls) == 1


async def test_a_run_may_be_cancelled_while_it_is_suspended(play: Play) -> None:
    play.lingers = 0.05
    play.says = lambda ids: "suspend"
    task = asyncio.create_task(play("await asyncio.gather(hold(), hold())"))
    while not play.asked:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.cancelled == ["1", "2"]


async def test_the_time_already_used_counts_after_a_pause(play: Play) -> None:
    source = (
        "import time\nend = time.perf_counter() + 0.25\nwhile time.perf_counter() < end: pass\n"
        "await hold()\nend = time.perf_counter() + 0.25\nwhile time.perf_counter() < end: pass"
    )
    if await play.refuses_to_pause(source):
        return
    play.says = lambda ids: "suspend"
    outcome = await play(source, limits=Limits(seconds=0.4))
    assert isinstance(outcome, Suspended)
    play.says = lambda ids: "wait"
    play.release()
    outcome = await play(source, limits=Limits(seconds=0.4), resume=outcome.state)
    assert isinstance(outcome, Exceeded)


async def test_a_run_inside_a_call_of_a_run(play: Play) -> None:
    inner = "return await nest('return await give(3)')"
    assert await play.value("return await nest(script)", script=inner) == 3
