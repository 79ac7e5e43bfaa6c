"""What is told of a tool that raises or takes too long, and of middleware that raises."""

import asyncio
import logging
import threading
from pathlib import Path

import pytest

from lineshaft import Policy, Session, Tool, ToolError, tool
from lineshaft.values import Call, CallError, Context, Dispatch, Done, Effect

OPEN = Policy(mode="open")


async def error_of(made: Tool, **settings: object) -> CallError:
    async with Session([made], policy=OPEN, store=False, **settings) as session:  # pyright: ignore[reportArgumentType]  of a session
        result = await session.call(made.name)
    assert result.error is not None
    return result.error


@tool(effect="read")
async def of_one() -> None:
    """Fail in a task."""
    async with asyncio.TaskGroup() as group:
        gone = ToolError("E_FILE_NOT_FOUND", "no account 17", hint="make it")
        gone.unknown = True
        group.create_task(fails(gone))


@tool(effect="read")
async def of_two() -> None:
    """Fail in two tasks."""
    async with asyncio.TaskGroup() as group:
        group.create_task(fails(ValueError("first")))
        group.create_task(fails(KeyError("second")))


@tool(effect="read")
async def noted() -> None:
    """Fail with a note."""
    error = ValueError("wrong")
    error.add_note("in line 7 of the table")
    raise error


async def fails(error: Exception) -> None:
    raise error


class _Odd(ToolError):
    """An author's error, whose hint is no text."""

    hint = 17  # pyright: ignore[reportAssignmentType]  authors write what they like


@tool(effect="read")
async def odd() -> None:
    """Fail oddly."""
    raise _Odd("E_MINE", "so")


async def test_what_an_own_error_has_is_told_as_text() -> None:
    error = await error_of(odd)
    assert (error.code, error.message, error.hint) == ("E_MINE", "so", "17")


async def test_a_group_of_one_is_the_error_in_it() -> None:
    async with Session([of_one], store=False) as session:
        result = await session.run("await of_one()")
    assert [call.status for call in result.calls] == ["unknown"]
    error = await error_of(of_one)
    assert (error.code, error.message, error.hint) == (
        "E_FILE_NOT_FOUND",
        "no account 17",
        "make it",
    )


async def test_a_group_is_told_with_its_members() -> None:
    error = await error_of(of_two)
    assert error.code == "E_TOOL_FAILED"
    assert "ValueError: first; KeyError: 'second'" in error.message


async def test_of_a_large_group_some_are_told() -> None:
    @tool(effect="read")
    async def of_many() -> None:
        """Fail in eight tasks."""
        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(fails(ValueError(number)))

    message = (await error_of(of_many)).message
    assert message.endswith("ValueError: 3; ValueError: 4; and 3 more)")


async def test_a_note_is_told_with_its_error() -> None:
    assert (await error_of(noted)).message.endswith("ValueError: wrong in line 7 of the table")


async def test_an_author_finds_the_traceback_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lineshaft.tools"):
        await error_of(noted)
    assert "test_what_tools_raise.py" in caplog.text
    assert "raise error" in caplog.text


@pytest.mark.parametrize(
    ("effect", "hint"),
    [("external", "it may still take effect: look before you call it again"), ("read", "")],
)
async def test_a_thread_that_goes_on_is_not_said_to_have_ended(effect: Effect, hint: str) -> None:
    goes_on = threading.Event()

    def wait() -> None:
        """Take too long, in a thread that nothing can end."""
        goes_on.wait(60)

    try:
        error = await error_of(Tool.from_function(wait, effect=effect, seconds=0.05))
    finally:
        goes_on.set()
    assert (error.code, error.message, error.hint) == (
        "E_TOOL_TIMEOUT",
        "wait took longer than 0.05 s and could not be ended: it may still go on",
        hint,
    )


async def test_middleware_says_what_it_means() -> None:
    def quota(inner: Dispatch) -> Dispatch:
        del inner

        async def dispatch(call: Call) -> Done:
            raise ToolError("E_QUOTA", f"no more of {call.tool} today", hint="try tomorrow")

        return dispatch

    error = await error_of(noted, middleware=[quota])
    assert (error.code, error.message, error.hint) == (
        "E_QUOTA",
        "no more of noted today",
        "try tomorrow",
    )


async def test_only_the_workspace_itself_is_shortened_in_a_message(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()

    @tool(effect="read")
    async def fail() -> None:
        """Fail."""
        raise ToolError("E_BROKEN", f"{root}/a, {root}-evil/b, {root}.d/c, x{root}, {root}")

    error = await error_of(fail, workspace=root)
    assert error.message == f"./a, {root}-evil/b, {root}.d/c, x{root}, ."


async def test_a_file_takes_bytes_alone_and_keeps_those_it_was_given(tmp_path: Path) -> None:
    async def save(context: Context) -> None:
        """Save them, and use the buffer again."""
        buffer = bytearray(b"first")
        await context.workspace.write("a.txt", buffer)  # pyright: ignore[reportArgumentType]  authors give what they have
        buffer[:] = b"other"

    async def save_text(context: Context) -> None:
        """Save text."""
        await context.workspace.write("a.txt", "text")  # pyright: ignore[reportArgumentType]  the point

    saving, texts = (Tool.from_function(each, effect="write") for each in (save, save_text))
    error = await error_of(texts, workspace=tmp_path)
    told = (
        "save_text failed: TypeError: the content of 'a.txt' must be bytes, not str: text.encode()"
    )
    assert (error.code, error.message) == ("E_TOOL_FAILED", told)
    async with Session([saving], workspace=tmp_path, policy=OPEN, store=False) as session:
        assert (await session.call("save")).error is None
    assert (tmp_path / "a.txt").read_bytes() == b"first"


async def test_a_path_of_another_kind_than_text_is_told_as_such(tmp_path: Path) -> None:
    async def size(context: Context) -> int:
        """Return how long a file is."""
        return len((await context.workspace.read(Path("a.txt"))).data)  # pyright: ignore[reportArgumentType]  the point

    error = await error_of(Tool.from_function(size, effect="read"), workspace=tmp_path)
    kind = type(Path()).__name__
    assert (
        error.message == f"size failed: TypeError: a path must be text, not {kind}: path.as_posix()"
    )
