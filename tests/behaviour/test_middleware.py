"""Middleware is the user's code around the door: whatever it does, calls end as calls do."""

import asyncio
import sys
from pathlib import Path
from typing import cast

import pytest

from lineshaft import Event, ToolError, tool
from lineshaft.values import Call, Dispatch, Done, Value
from support import Make, Outside

SCRIPT = "try:\n    return await poke()\nexcept ToolError as e:\n    return [e.code, e.message]"


def raises(inner: Dispatch) -> Dispatch:
    del inner

    async def dispatch(call: Call) -> Done:
        raise ValueError(f"no {call.tool} below {Path.home()}")

    return dispatch


def gives_nothing(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        await inner(call)
        return cast("Done", None)

    return dispatch


def is_not_async(inner: Dispatch) -> Dispatch:
    del inner
    return cast("Dispatch", lambda call: Value(1))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  a mistake of users


def gives_no_json(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        await inner(call)
        return Value(object())

    return dispatch


def leaves(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        await inner(call)
        sys.exit(3)

    return dispatch


class Failed(BaseException):
    """An error that is no `Exception`, as some test frameworks have."""


def raises_none_that_is_caught(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        await inner(call)
        raise Failed("once more")

    return dispatch


def raises_a_group(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        await inner(call)
        raise BaseExceptionGroup("both", [Failed("one"), Failed("other")])

    return dispatch


def tries_twice_at_once(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        both = await asyncio.gather(inner(call), inner(call))
        return both[0]

    return dispatch


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("middleware", "message"),
    [
        (raises, "poke failed in the middleware raises: ValueError: no poke below ~"),
        (gives_nothing, "middleware gave None, neither a Value nor a Failure"),
        (is_not_async, "in the middleware is_not_async: TypeError: it gives no awaitable; make it"),
        (gives_no_json, "PydanticSerializationError"),
        (leaves, "in the middleware leaves: RuntimeError: it called sys.exit(3)"),
        (raises_none_that_is_caught, "raises_none_that_is_caught: Failed: once more"),
        (raises_a_group, "both (2 sub-exceptions) (Failed: one; Failed: other)"),
    ],
)
async def test_what_middleware_does_wrong_fails_the_call(
    make: Make, middleware: object, message: str
) -> None:
    async with make(middleware=[middleware]) as session:
        result = await session.run(SCRIPT)
        direct = await session.call("poke")
    assert result.value[0] == "E_TOOL_FAILED"
    assert message in result.value[1]
    assert direct.error is not None
    assert message in direct.error.message
    name = getattr(middleware, "__qualname__", "")
    assert direct.error.hint == f"the middleware {name} failed, not the tool: mend it"


def raises_at_once(inner: Dispatch) -> Dispatch:
    raise KeyError(f"no quota for {inner.__name__}")


def leaves_at_once(inner: Dispatch) -> Dispatch:
    sys.exit(f"no run is left for {inner.__name__}")


def refuses_at_once(inner: Dispatch) -> Dispatch:
    raise ToolError("E_QUOTA", f"no run is left for {inner.__name__}")


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    ("middleware", "code", "message"),
    [
        (raises_at_once, "E_CONFIG", "the middleware raises_at_once raised KeyError: 'no quota"),
        (leaves_at_once, "E_CONFIG", "the middleware leaves_at_once raised SystemExit: no run is"),
        (refuses_at_once, "E_QUOTA", "no run is left"),
    ],
)
async def test_middleware_that_raises_before_the_first_call_is_named(
    make: Make, outside: Outside, middleware: object, code: str, message: str
) -> None:
    async with make(middleware=[middleware]) as session:
        result = await session.run(SCRIPT)
    assert result.error is not None
    assert result.error.code == code
    assert message in result.error.message
    assert outside.counts["poke"] == 0


@pytest.mark.behaviour("G30")
async def test_a_call_that_middleware_makes_twice_has_a_line_for_each(
    make: Make, outside: Outside
) -> None:
    events: list[Event] = []
    async with make(middleware=[tries_twice_at_once], sinks=[events.append]) as session:
        result = await session.run(SCRIPT)
    assert result.value == 1
    assert outside.counts["poke"] == 2
    assert [call.status for call in result.calls] == ["done", "done"]
    assert len({call.id for call in result.calls}) == 2
    finished = [event.call_id for event in events if event.kind == "call_finished"]
    assert sorted(str(each) for each in finished) == sorted(call.id for call in result.calls)


@tool(effect="read")
async def revealing() -> None:
    """Say too much."""
    here = Path.home() / "here"
    raise ToolError("E_STALE", "x" * 1_990 + " the-secret-of-all", hint=f"look into {here}")


@pytest.mark.behaviour("E24")
async def test_an_error_shows_neither_places_of_the_host_nor_half_a_secret(make: Make) -> None:
    events: list[Event] = []
    arguments = {"sinks": [events.append], "secrets": ["the-secret-of-all"]}
    async with make(revealing, **arguments) as session:
        result = await session.run("await revealing()")
        handled = await session.handle("revealing", {})
    assert str(Path.home()) not in handled.text
    assert "look into ~/here" in handled.text
    assert result.error is not None
    shown = f"{result.error}{handled}{events}"
    assert "the-secr" not in shown
    assert "[redacted" in result.error.message
