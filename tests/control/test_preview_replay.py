"""What a preview and a replay keep to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import anyio
import pytest

from control.world import Open
from lineshaft import Answer, tool
from lineshaft.errors import RunBusy
from lineshaft.values import Change, Finding, Stage
from support import Outside


async def test_a_preview_lands_nothing_and_the_run_lands_what_it_said(
    opened: Open, workspace: Path
) -> None:
    (workspace / "a.txt").write_text("one\ntwo\n")
    script = """
text = (await read_file(path="a.txt"))["content"]
await edit_file(path="a.txt", old="two", new="2")
await write_file(path="asked/b.txt", content=text)
return "end"
"""
    async with opened() as session:
        shown = await session.preview(script)
        assert (shown.run.status, shown.run.value, shown.stopped_at) == ("success", "end", None)
        assert "-two" in shown.diff
        assert "+2" in shown.diff
        assert not shown.run.landed
        assert (workspace / "a.txt").read_text() == "one\ntwo\n"
        assert not (workspace / "asked").exists()


@pytest.mark.parametrize("level", ["error", "warning"])
async def test_a_preview_ends_as_the_guards_of_the_run_would_have_it(
    opened: Open, workspace: Path, level: Literal["error", "warning"]
) -> None:
    def nothing_there(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        del stage
        return [Finding(code="full", message="no", level=level, path=c.path) for c in changes]

    script = "await write_file(path='a.txt', content='a')\nreturn 1"
    async with opened(guards=[nothing_there]) as session:
        shown = await session.preview(script)
        assert not (workspace / "a.txt").exists()
        done = await session.run(script)
    assert (shown.run.status, shown.run.error, shown.run.value, shown.run.findings) == (
        done.status,
        done.error,
        done.value,
        done.findings,
    )
    assert (done.error is not None) == (level == "error")
    assert "+a" in shown.diff


async def test_a_preview_stops_before_it_acts(opened: Open, outside: Outside) -> None:
    async with opened() as session:
        shown = await session.preview("try:\n    await note(what='x')\nfinally:\n    await poke()")
    assert shown.stopped_at is not None
    assert (shown.stopped_at.tool, shown.run.status, outside.total) == ("note", "paused", 0)


async def test_a_replay_calls_nothing_and_ends_alike(opened: Open, outside: Outside) -> None:
    script = """
import random
values = await asyncio.gather(*[note(what=f"{i}") for i in range(5)])
print(values)
return [sum(values), len(values)]
"""
    async with opened() as session:
        done = await session.run(script)
        assert (done.status, outside.total) == ("success", 5)
        replay = await session.replay(done.run_id)
    assert (replay.difference, replay.run.value, outside.total) == (None, done.value, 5)


async def test_a_run_that_waits_is_replayed_once_it_is_over(opened: Open, outside: Outside) -> None:
    async with opened() as session:
        paused = await session.run("return await poke()")
        with pytest.raises(RunBusy, match="waits for answers"):
            await session.replay(paused.run_id)
        done = await session.resume(paused.run_id, {"*": Answer(allow=True)})
        assert (await session.replay(done.run_id)).difference is None
    assert outside.total == 1


async def test_a_run_that_goes_on_is_replayed_once_it_is_over(opened: Open) -> None:
    there, leave = anyio.Event(), anyio.Event()

    @tool(effect="external")
    async def holds() -> int:
        """Wait outside."""
        there.set()
        await leave.wait()
        return 1

    async with opened(holds) as session, opened(holds) as other:
        run = await session.start("return await holds()")
        await there.wait()
        with pytest.raises(RunBusy, match="goes on; it can be replayed once it is over"):
            await other.replay(run.run_id)
        leave.set()
        assert (await run.result()).value == 1
        assert (await other.replay(run.run_id)).difference is None


async def test_a_replay_names_the_first_call_that_differs(opened: Open, outside: Outside) -> None:
    seen: list[int] = []

    @tool(effect="read")
    async def look() -> int:
        """Look."""
        seen.append(1)
        return len(seen)

    script = "n = await look()\nreturn await note(what=str(n + offset))"
    async with opened(look) as session:
        done = await session.run(script, inputs={"offset": 1})
        store = session.store
        assert store is not None
        saved = await store.load(done.run_id)
        changed = dict(saved.run.document, inputs={"offset": 2})
        assert changed != saved.run.document
    assert (done.status, outside.counts["note:2"], len(seen)) == ("success", 1, 1)
    async with opened(look) as session:
        replay = await session.replay(done.run_id)
        assert replay.difference is None
    assert (outside.total, len(seen)) == (1, 1)


async def test_a_replay_names_the_first_call_that_is_not_recorded(
    opened: Open, workspace: Path, outside: Outside
) -> None:
    for name in ("a.txt", "b.txt"):
        (workspace / name).write_text(name)
    (workspace / "link").symlink_to("a.txt")
    script = "text = (await read_file(path='link'))['content']\nreturn await note(what=text)"
    async with opened() as session:
        done = await session.run(script)
        (workspace / "link").unlink()
        (workspace / "link").symlink_to("b.txt")
        replay = await session.replay(done.run_id)
    found = replay.difference
    assert found is not None
    assert (found.call and found.call.arguments, found.expected and found.expected.tool) == (
        {"path": "b.txt"},
        "read_file",
    )
    assert (replay.run.status, outside.counts["note"]) == ("error", 1)


async def test_a_replay_names_a_call_that_comes_after_all_that_is_recorded(
    opened: Open, outside: Outside
) -> None:
    script = """
await note(what="x")
try:
    return await added()
except NameError:
    return "not there"
"""
    async with opened(check="off") as session:
        done = await session.run(script)
    assert (done.value, outside.total) == ("not there", 1)

    async with opened(outside.tool("added"), check="off") as session:
        replay = await session.replay(done.run_id)
    found = replay.difference
    assert found is not None
    assert (found.call and found.call.tool, found.expected) == ("added", None)
    assert "the record goes on" not in found.message
    assert outside.total == 1


async def test_a_replay_goes_on_beside_a_timer(opened: Open, outside: Outside) -> None:
    script = """
made, _ = await asyncio.gather(note(what="x"), asyncio.sleep(0.2))
return made
"""
    async with opened() as session:
        done = await session.run(script)
        replay = await session.replay(done.run_id)
    assert (replay.difference, replay.run.value, outside.total) == (None, 1, 1)
