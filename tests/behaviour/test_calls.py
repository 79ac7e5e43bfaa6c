"""Calls from a script: their errors, their answers, and the end of their authority."""

import threading

import anyio
import pytest

from lineshaft import (
    Answer,
    Context,
    Event,
    Limits,
    Pending,
    Policy,
    Session,
    Tool,
    ToolError,
    tool,
)
from lineshaft.values import Call, Dispatch, Done
from support import Make, Outside


@tool(effect="read")
async def fragile(code: str = "E_TOOL_FAILED") -> None:
    """Fail in a chosen way.

    Args:
        code: The code, or `crash` for an exception of Python's own.
    """
    if code == "crash":
        raise ValueError("broken inside")
    raise ToolError(code, f"it failed as {code}")


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("call", "code", "name"),
    [
        ("fragile(code='E_STALE')", "E_STALE", "fragile"),
        ("fragile(code='crash')", "E_TOOL_FAILED", "fragile"),
        ("forbidden()", "E_DENIED", "forbidden"),
        ("read_file(path='../x')", "E_SANDBOX_VIOLATION", "read_file"),
        ("read_file(path='missing.txt')", "E_FILE_NOT_FOUND", "read_file"),
        ("read_file(path=7)", "E_INVALID_ARGS", "read_file"),
        ("read_file()", "E_INVALID_ARGS", "read_file"),
        ("read_file(path='a', nonsense=1)", "E_INVALID_ARGS", "read_file"),
    ],
)
async def test_a_failed_call_raises_tool_error_with_code_tool_and_message(
    make: Make, outside: Outside, call: str, code: str, name: str
) -> None:
    policy = Policy.from_dict(
        {"mode": "auto", "rules": [{"id": "no", "tool": "forbidden", "verdict": "deny"}]}
    )
    script = f"""
try:
    await {call}
except ToolError as e:
    return [e.code, e.tool, bool(e.message), str(e) == e.message]
"""
    async with make(fragile, outside.tool("forbidden"), policy=policy, check="off") as session:
        result = await session.run(script)
    assert result.value == [code, name, True, True]
    assert outside.total == 0


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    "handler",
    ["except ToolError as e", "except Exception as e", "except (ValueError, ToolError) as e"],
)
async def test_every_form_of_handler_sees_the_same_error(make: Make, handler: str) -> None:
    script = f"""
try:
    try:
        await fragile(code='E_STALE')
    {handler}:
        raise
{handler}:
    return [e.code, e.tool, str(e), isinstance(e, ToolError)]
"""
    async with make(fragile) as session:
        result = await session.run(script)
    assert result.value == ["E_STALE", "fragile", "it failed as E_STALE", True]


@pytest.mark.behaviour("C12")
async def test_a_scripts_own_error_is_not_taken_for_a_tools(make: Make) -> None:
    script = """
try:
    int('x')
except ToolError:
    return 'tool'
except ValueError:
    return 'value'
"""
    async with make() as session:
        result = await session.run(script)
    assert result.value == "value"


@pytest.mark.behaviour("C12")
async def test_an_uncaught_tool_error_ends_the_run_with_its_code_and_line(make: Make) -> None:
    async with make(fragile) as session:
        result = await session.run("x = 1\nawait fragile(code='E_STALE')\n")
    assert (result.status, result.exit_code) == ("error", 1)
    assert result.error is not None
    assert (result.error.code, result.error.line) == ("E_STALE", 2)
    assert result.error.message == "it failed as E_STALE"
    with pytest.raises(ToolError) as caught:
        result.raise_for_status()
    assert (caught.value.code, caught.value.tool) == ("E_STALE", "fragile")


@pytest.mark.behaviour("C13")
async def test_concurrent_calls_each_get_their_own_answer(make: Make) -> None:
    everybody, here = anyio.Event(), [0]

    @tool(effect="read")
    async def echo(number: int) -> int:
        """Return the number, once all twenty have come."""
        here[0] += 1
        if here[0] == 20:
            everybody.set()
        await everybody.wait()
        return number

    script = "return await asyncio.gather(*[echo(number=i) for i in range(20)])"
    async with make(echo) as session:
        result = await session.run(script, limits=Limits(seconds=20))
    assert result.value == list(range(20))


@pytest.mark.behaviour("C13")
async def test_sync_tools_run_in_threads_side_by_side(make: Make) -> None:
    barrier = threading.Barrier(60, timeout=10)

    @tool(effect="read")
    def meet(number: int) -> int:
        """Return the number, once all sixty have come."""
        barrier.wait()
        return number

    script = "return await asyncio.gather(*[meet(number=i) for i in range(60)])"
    async with make(meet) as session:
        result = await session.run(script, limits=Limits(seconds=20))
    assert result.value == list(range(60))


CATCH_ALL = """
async def again():
    while True:
        try:
            await poke(what='late')
        except BaseException:
            pass
try:
    {trigger}
except BaseException:
    pass
finally:
    await poke(what='finally')
await again()
"""


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize("how", ["cancel", "time-out", "stop", "caller"])
async def test_nothing_is_dispatched_after_a_run_was_ended(
    make: Make, outside: Outside, how: str
) -> None:
    waiting, cancelled = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def wait() -> None:
        """Wait for ever."""
        waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    stop = {"id": "halt", "tool": "halt", "verdict": "stop", "reason": "enough"}
    policy = Policy.from_dict({"mode": "open", "rules": [stop]})
    trigger = "await halt()" if how == "stop" else "await wait()"
    limits = Limits(seconds=3 if how == "time-out" else 30)
    async with make(wait, outside.tool("halt"), policy=policy, limits=limits) as session:
        run = await session.start(CATCH_ALL.format(trigger=trigger))
        if how != "stop":
            with anyio.fail_after(10):
                await waiting.wait()
        if how == "cancel":
            run.cancel()
        if how == "caller":
            run.cancel()
        with anyio.fail_after(10):
            result = await run.result()
        before = outside.total
        with anyio.move_on_after(0.3):
            await anyio.sleep_forever()
    assert outside.total == before == 0
    expected = {"time-out": "timeout", "stop": "refused"}.get(how, "cancelled")
    assert result.status == expected
    assert how == "stop" or cancelled.is_set()


@pytest.mark.behaviour("C15")
async def test_cancelling_the_caller_settles_and_records_the_run_first(
    make: Make, outside: Outside
) -> None:
    events: list[str] = []
    waiting = anyio.Event()

    def note(event: Event) -> None:
        events.append(event.kind)

    @tool(effect="read")
    async def wait() -> None:
        """Wait for ever."""
        waiting.set()
        await anyio.sleep_forever()

    async with make(wait, sinks=[note]) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.run, CATCH_ALL.format(trigger="await wait()"))
            await waiting.wait()
            group.cancel_scope.cancel()
        assert events[-1] == "run_finished"
        assert (await session.run("return 1")).value == 1
    assert outside.total == 0


@pytest.mark.behaviour("C15")
async def test_a_tool_that_ignores_its_end_cannot_use_the_workspace_any_more(
    make: Make, folder: object
) -> None:
    outcome: list[str] = []
    let_go, finished = anyio.Event(), anyio.Event()

    async def stubborn(context: Context) -> None:
        """Ignore every cancellation, then write."""
        while not let_go.is_set():
            try:
                await let_go.wait()
            except BaseException:  # noqa: BLE001, S112  it swallows cancellation on purpose
                continue
        try:
            await context.workspace.write("late.txt", b"late")
        except ToolError as error:
            outcome.append(error.code)
        finished.set()

    late = Tool.from_function(stubborn, effect="write", seconds=0.05)
    async with make(late) as session:
        result = await session.run("await stubborn()")
        let_go.set()
        with anyio.fail_after(5):
            await finished.wait()
    assert [call.status for call in result.calls] == ["unknown"]
    assert result.error is not None
    assert result.error.code == "E_TOOL_TIMEOUT"
    assert outcome == ["E_DENIED"]


@pytest.mark.behaviour("C15")
async def test_a_container_cannot_call_on_after_its_call(make: Make, outside: Outside) -> None:
    kept: list[Dispatch] = []

    async def lend(context: Context) -> None:
        """Keep the way in."""
        kept.append(context.dispatch)

    container = Tool.from_function(lend, effect="read", container=True)
    async with make(container) as session:
        await session.run("await lend()")
        done: Done = await kept[0](Call(tool="poke", arguments={}, origin="code"))
    assert getattr(done, "code", None) == "E_DENIED"
    assert outside.total == 0


@pytest.mark.behaviour("C15")
async def test_writes_run_one_at_a_time_in_the_order_of_the_script(make: Make) -> None:
    inside, most, order = [0], [0], list[int]()
    arrived, all_there = list[Call](), anyio.Event()

    def arriving(dispatch: Dispatch) -> Dispatch:
        async def note(call: Call) -> Done:
            arrived.append(call)
            if len(arrived) == 10:
                all_there.set()
            return await dispatch(call)

        return note

    @tool(effect="write")
    async def careful(number: int) -> None:
        """Note how many are inside, where all could be."""
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        await all_there.wait()
        for _ in range(100):  # rounds in which another one could come in
            await anyio.lowlevel.checkpoint()
        order.append(number)
        inside[0] -= 1

    script = "await asyncio.gather(*[careful(number=i) for i in range(10)])"
    async with make(careful, middleware=[arriving]) as session:
        result = await session.run(script)
    assert result.status == "success"
    assert (most, order) == ([1], list(range(10)))


ASK = {"id": "ask-poke", "tool": "poke", "verdict": "ask", "reason": "it pokes"}


@pytest.mark.behaviour("C12")
async def test_calls_that_ask_are_shown_as_one_list_and_answered_one_by_one(
    make: Make, outside: Outside
) -> None:
    lists: list[tuple[Pending, ...]] = []

    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        lists.append(pending)
        return {p.id: Answer(allow=p.arguments["what"] != "b", reason="not b") for p in pending}

    script = """
async def one(what):
    try:
        return await poke(what=what)
    except ToolError as e:
        return [e.code, 'not b' in str(e)]
return await asyncio.gather(one('a'), one('b'), one('c'))
"""
    policy = Policy.from_dict({"mode": "open", "rules": [ASK]})
    async with make(policy=policy, approver=approver) as session:
        result = await session.run(script)
    assert result.value == [1, ["E_DENIED", True], 2]
    assert [[p.arguments["what"] for p in pending] for pending in lists] == [["a", "b", "c"]]
    assert outside.counts["poke:b"] == 0


@pytest.mark.behaviour("C12")
async def test_an_ask_that_nobody_can_answer_pauses_the_run(make: Make, outside: Outside) -> None:
    policy = Policy.from_dict({"mode": "open", "rules": [ASK]})
    async with make(policy=policy) as session:
        result = await session.run("await poke()")
        assert (result.status, result.exit_code) == ("paused", 5)
        assert [call.tool for call in result.pending] == ["poke"]
        assert result.expires_at is not None
        assert outside.total == 0
        done = await session.resume(result.run_id, {"*": Answer(allow=True)})
    assert (done.status, outside.total) == ("success", 1)


@pytest.mark.behaviour("C12")
async def test_an_ask_that_nobody_can_ever_answer_is_refused(make: Make, outside: Outside) -> None:
    policy = Policy.from_dict({"mode": "open", "rules": [ASK]})
    async with make(policy=policy, store=False) as session:
        result = await session.run("await poke()")
        direct = await session.call("poke")
    assert result.error is not None
    assert (result.error.code, result.exit_code) == ("E_DENIED", 3)
    assert direct.error is not None
    assert direct.rule == "ask-poke"
    assert outside.total == 0


@pytest.mark.behaviour("A2")
async def test_the_clock_stands_still_while_a_person_is_asked(make: Make, outside: Outside) -> None:
    async def slow_person(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        with anyio.move_on_after(0.8):
            await anyio.sleep_forever()
        return {p.id: Answer(allow=True) for p in pending}

    policy = Policy.from_dict({"mode": "open", "rules": [ASK]})
    limits = Limits(seconds=0.5)
    async with make(policy=policy, approver=slow_person, limits=limits) as session:
        result = await session.run("return await poke()")
    assert result.value == 1


@pytest.mark.behaviour("C15")
async def test_a_nested_run_writes_inside_the_turn_of_its_tool(
    make: Make, outside: Outside
) -> None:
    sessions: list[Session] = []

    @tool(effect="write")
    async def nested() -> object:
        """Run a script inside a call that holds the workspace's lane."""
        return (await sessions[0].run("return await poke()")).value

    async with make(nested) as session:
        sessions.append(session)
        result = await session.run("return await nested()", limits=Limits(seconds=10))
    assert result.value == 1


@tool(effect="read")
async def never() -> None:
    """Wait for what never comes."""
    await anyio.sleep_forever()


@pytest.mark.behaviour("C13")
async def test_a_call_that_its_script_gives_up_is_cancelled_and_has_not_failed() -> None:
    script = """
try:
    await asyncio.wait_for(never(), 0.05)
except TimeoutError:
    return "given up"
"""
    async with Session([never]) as session:
        result = await session.run(script)
    (call,) = result.calls
    assert call.error is not None
    assert (result.value, call.status, call.error.code) == ("given up", "cancelled", "E_CANCELLED")


@tool(effect="read", seconds=0.05)
async def slow() -> None:
    """Never come back."""
    await anyio.sleep_forever()


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("script", "code"),
    [("for _ in range(2):\n    await poke()", "E_CALL_LIMIT"), ("await slow()", "E_TOOL_TIMEOUT")],
)
async def test_a_limit_of_a_call_that_is_not_caught_has_the_exit_code_of_limits(
    make: Make, script: str, code: str
) -> None:
    async with make(slow, policy=Policy(mode="open"), limits=Limits(calls=1)) as session:
        result = await session.run(script)
    assert result.error is not None
    assert (result.status, result.error.code, result.exit_code) == ("error", code, 4)
