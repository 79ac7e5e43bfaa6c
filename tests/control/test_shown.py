"""An approval is for what somebody was shown: not for a file that was changed meanwhile."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from control.world import Open
from lineshaft import Answer, Pending

YES = Answer(allow=True)
NO = Answer(allow=False)

WRITES = """
try:
    await write_file(path="asked/a.txt", content="mine\\n")
except ToolError as error:
    return [error.code, "asked/a.txt" in error.message]
return "written"
"""


@pytest.fixture
def file(workspace: Path) -> Path:
    """Return a file whose changes are asked about."""
    file = workspace / "asked" / "a.txt"
    file.parent.mkdir()
    file.write_text("first\n")
    return file


async def test_a_file_that_changed_since_its_diff_was_shown_is_left(
    opened: Open, file: Path
) -> None:
    async with opened() as session:
        paused = await session.run(WRITES)
        assert "-first" in paused.pending[0].diff
    file.write_text("theirs\n")
    async with opened() as session:
        done = await session.resume(paused.run_id, {"*": YES})
    assert done.value == ["E_STALE", True]
    assert file.read_text() == "theirs\n"


async def test_so_is_one_that_appeared_or_went(opened: Open, file: Path) -> None:
    script = """
async def put(path):
    try:
        await write_file(path=path, content="mine")
    except ToolError as error:
        return error.code
    return "written"

paths = ["asked/a.txt", "asked/new.txt", "asked/as-it-was.txt"]
return await asyncio.gather(*[put(path) for path in paths])
"""
    async with opened() as session:
        paused = await session.run(script)
        file.unlink()
        file.with_name("new.txt").write_text("theirs")
        done = await session.resume(paused.run_id, {"*": YES})
    assert done.value == ["E_STALE", "E_STALE", "written"]
    assert not file.exists()
    assert file.with_name("new.txt").read_text() == "theirs"


async def test_one_that_changes_while_somebody_is_asked_is_left_too(
    opened: Open, file: Path
) -> None:
    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        file.write_text("theirs\n")
        return {each.id: YES for each in pending}

    async with opened(approver=approver) as session:
        done = await session.run(WRITES)
    assert done.value == ["E_STALE", True]
    assert file.read_text() == "theirs\n"


async def test_made_again_the_call_is_shown_as_it_is_by_then(opened: Open, file: Path) -> None:
    script = """
for attempt in range(2):
    try:
        await write_file(path="asked/a.txt", content="mine\\n")
    except ToolError as error:
        print(error.code)
"""
    async with opened() as session:
        paused = await session.run(script)
        file.write_text("theirs\n")
        again = await session.resume(paused.run_id, {"*": YES})
        assert again.status == "paused"
        assert "-theirs" in again.pending[0].diff
        done = await session.resume(paused.run_id, {"*": YES})
    assert (done.status, done.stdout) == ("success", "E_STALE\n")
    assert file.read_text() == "mine\n"


async def test_changes_of_the_run_itself_are_nobody_elses(opened: Open, file: Path) -> None:
    file.write_text("a b c\n")
    script = """
async def edit(old):
    await edit_file(path="asked/a.txt", old=old, new=old.upper())

await asyncio.gather(edit("a"), edit("b"))
await run_command(command="true")
await edit("c")
"""
    rule = {"id": "ask-edit", "tool": "edit_file", "verdict": "ask"}
    async with opened(rules=[rule]) as session:
        result = await session.run(script)
        assert [len(call.diff) > 0 for call in result.pending] == [True, True]
        while result.status == "paused":
            result = await session.resume(result.run_id, {result.pending[0].id: YES})
    assert result.status == "success"
    assert file.read_text() == "A B C\n"


async def test_who_was_denied_may_read_and_change_what_somebody_made_of_it(
    opened: Open, file: Path
) -> None:
    script = """
try:
    await write_file(path="asked/a.txt", content="mine")
except ToolError:
    text = (await read_file(path="asked/a.txt"))["content"]
    await edit_file(path="asked/a.txt", old=text, new=text + "and mine")
"""
    async with opened() as session:
        paused = await session.run(script)
        file.write_text("by hand, ")
        done = await session.resume(paused.run_id, {"*": NO})
    assert done.status == "success"
    assert file.read_text() == "by hand, and mine"


async def test_nor_is_one_written_that_changed_under_what_the_run_has_staged(
    opened: Open, file: Path
) -> None:
    asked: list[str] = []

    async def approver(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.extend(each.tool for each in pending)
        if len(asked) == 2:
            file.write_text("theirs\n")
        return {each.id: YES for each in pending}

    async with opened(approver=approver) as session:
        done = await session.run('await write_file(path="asked/a.txt", content="one")\n' + WRITES)
    assert done.value == ["E_STALE", True]
    assert file.read_text() == "theirs\n"
