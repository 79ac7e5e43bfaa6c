"""What a user's type checker sees of sessions and results; checked by pyright, run by pytest."""

import inspect
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, assert_type

from lineshaft import (
    Answer,
    Context,
    Event,
    Limits,
    Pending,
    Policy,
    Run,
    RunResult,
    Session,
    kit,
    run_sync,
    tool,
)
from lineshaft.session._sync import SessionArguments
from lineshaft.values import (
    Call,
    CallRecord,
    CallResult,
    Dispatch,
    Done,
    Finding,
    Handled,
    ToolSpec,
)


@tool(effect="read")
async def shout(text: str, context: Context) -> str:
    """Return a text in capitals."""
    context.progress(1, 1)
    return text.upper()


async def approve(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
    return {call.id: Answer(allow=call.tool != "run_command") for call in pending}


def logged(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        return await inner(call)

    return dispatch


async def test_an_agent_is_typed_all_the_way(tmp_path: Path) -> None:
    events: list[Event] = []
    async with Session(
        [shout, *kit.tools("read_file").values()],
        workspace=tmp_path,
        policy=Policy.from_dict({"mode": "read"}),
        limits=Limits(seconds=20, calls=10),
        approver=approve,
        middleware=[logged],
        sinks=[events.append],
        deps={"any": "thing"},
    ) as session:
        assert_type(session, Session)
        result = await session.run("return await shout(text=word)", inputs={"word": "a"})
        assert_type(result, RunResult)
        assert_type(result.calls, tuple[CallRecord, ...])
        assert_type(result.value, Any)
        assert_type(result.raise_for_status(), RunResult)
        assert_type(result.exit_code, int)
        run = await session.start("return 1")
        assert_type(run, Run)
        assert_type(aiter(run), AsyncIterator[Event])
        assert "run_started" in [event.kind async for event in run]
        assert_type(await run.result(), RunResult)
        assert_type(run.cancel(), None)
        called = await session.call("shout", {"text": "b"})
        assert_type(called, CallResult)
        assert_type(await session.check("return 1"), tuple[Finding, ...])
        assert_type(session.definitions("openai", direct=["shout"]), list[dict[str, Any]])
        assert_type(session.instructions(), str)
        handled = await session.handle("shout", '{"text": "c"}')
        assert_type(handled, Handled)
        assert_type(session.tools["shout"], ToolSpec)
        assert_type(session.tools.search("text"), tuple[ToolSpec, ...])
    assert (result.value, called.value, handled.text) == ("A", "B", "C")
    assert events


def test_the_synchronous_door_is_typed(tmp_path: Path) -> None:
    events: list[Event] = []
    result = run_sync(
        "return 2",
        tools=[shout],
        workspace=tmp_path,
        policy=Policy("read"),
        middleware=[logged],
        sinks=[events.append],
    )
    assert_type(result, RunResult)
    assert (result.value, events[-1].kind) == (2, "run_finished")


def test_the_synchronous_door_takes_what_a_session_takes() -> None:
    session = set(inspect.signature(Session).parameters)
    assert set(inspect.get_annotations(SessionArguments)) == session - {"tools"}
