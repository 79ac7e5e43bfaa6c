"""A move that a person approved is of what they were shown, whoever changes it meanwhile."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from control.world import Open
from lineshaft import Answer, Context, EntryPath, Pending, Tool

YES = Answer(allow=True)
ASKS = {"id": "ask-into", "tool": "put", "path": "into/**", "verdict": "ask"}

FILE = """
await write_file("a", "shown")
task = asyncio.create_task(put("a", "into/a"))
await until_shown()
await write_file("a", {again!r})
try:
    await task
except ToolError as error:
    return error.code
return (await read_file("into/a"))["content"]
"""
FOLDER = """
await write_file("x/a", "shown")
task = asyncio.create_task(put("x", "into"))
await until_shown()
await write_file("x/b", "not shown")
try:
    await task
except ToolError as error:
    return error.code
return "moved"
"""


def _tools() -> tuple[Tool[..., object], ...]:
    """Return a tool that moves, and one that waits until a move was tried for its diff."""
    tried = anyio.Event()

    async def put(source: EntryPath, target: EntryPath, context: Context) -> None:
        await context.workspace.move(source, target)
        tried.set()

    async def until_shown() -> None:
        await tried.wait()

    return (
        Tool.from_function(put, effect="write", staged=True),
        Tool.from_function(until_shown, effect="read", lane=None),
    )


async def _approve(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
    assert "not shown" not in pending[0].diff
    return {each.id: YES for each in pending}


@pytest.mark.parametrize("on_disk", [False, True])
async def test_a_file_that_the_run_changes_meanwhile_is_not_moved(
    opened: Open, workspace: Path, *, on_disk: bool
) -> None:
    if on_disk:
        (workspace / "a").write_text("before")
    async with opened(*_tools(), rules=[ASKS], approver=_approve) as session:
        done = await session.run(FILE.format(again="not shown"))
    assert done.value == "E_STALE"
    assert not (workspace / "into").exists()


async def test_a_file_that_stays_as_it_was_shown_is_moved(opened: Open, workspace: Path) -> None:
    async with opened(*_tools(), rules=[ASKS], approver=_approve) as session:
        done = await session.run(FILE.format(again="shown"))
    assert done.value == "shown"
    assert (workspace / "into" / "a").read_text() == "shown"


async def test_a_file_that_the_run_puts_into_a_folder_meanwhile_is_not_moved_with_it(
    opened: Open, workspace: Path
) -> None:
    async with opened(*_tools(), rules=[ASKS], approver=_approve) as session:
        done = await session.run(FOLDER)
    assert done.value == "E_STALE"
    assert not (workspace / "into").exists()


async def test_a_file_that_no_rule_asks_about_is_moved_with_its_folder(
    opened: Open, workspace: Path
) -> None:
    rule = {**ASKS, "path": "into/a"}
    async with opened(*_tools(), rules=[rule], approver=_approve) as session:
        done = await session.run(FOLDER)
    assert done.value == "moved"
    assert (workspace / "into" / "b").read_text() == "not shown"


async def test_it_holds_for_an_answer_after_a_pause(opened: Open, workspace: Path) -> None:
    async with opened(*_tools(), rules=[ASKS]) as session:
        waits = await session.run(FILE.format(again="not shown"))
        assert (waits.status, waits.pending[0].tool) == ("paused", "put")
        assert "+shown" in waits.pending[0].diff
    async with opened(*_tools(), rules=[ASKS]) as session:
        done = await session.resume(waits.run_id, {"*": YES})
    assert done.value == "E_STALE"
    assert not (workspace / "into").exists()
