"""A run whose host died: nothing is made twice, and what nobody knows is said to be unknown."""

import asyncio
import os
import signal
import time

import pytest

from control.host import session
from control.world import World
from lineshaft import RunResult
from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.trace import summarise
from lineshaft.values import Event

HANGS = """
a = await look(what="first")
b = await note(what="second")
try:
    c = await hang(what="third")
except ToolError as error:
    c = [error.code, str(error)]
d = await note(what="fourth")
return [a, b, c, d]
"""


def until(world: World, deed: str) -> None:
    """Wait until something was done."""
    end = time.monotonic() + 60
    while deed not in world.deeds:
        assert time.monotonic() < end, f"never done: {deed}"
        time.sleep(0.01)  # the host needs the processor more


def killed_while(world: World, script: str, deed: str) -> str:
    """Kill a host in the middle of a run; return the run's id."""
    host = world.start("run", script=script)
    until(world, deed)
    os.kill(host.pid, signal.SIGKILL)
    host.wait()
    [run] = world.runs()
    assert run["status"] == "interrupted"
    return str(run["run_id"])


def died(world: World, script: str, **order: object) -> str:
    """Have a host run a script and die where it is told to; return the run's id."""
    host = world.start("run", script=script, **order)
    assert host.wait(60) == -signal.SIGKILL
    [run] = world.runs()
    assert run["status"] == "interrupted"
    return str(run["run_id"])


def recorded(world: World, run_id: str) -> RunResult:
    """Return a run as its record has it."""

    async def read() -> RunResult:
        async with Store(world.folder / "state" / "runs.db") as store:
            return summarise(await store.events(run_id))

    return asyncio.run(read())


def test_what_was_under_way_is_unknown_and_not_made_again(world: World) -> None:
    run_id = killed_while(world, HANGS, "hang third")
    done = world.do("resume", run_id=run_id)
    assert done["status"] == "success"
    assert done["value"][:2] == ["saw first", "noted second"]
    assert done["value"][2][0] == "E_TOOL_FAILED"
    assert "nobody knows" in done["value"][2][1]
    assert world.deeds == ["look first", "note second", "hang third", "note fourth"]
    assert [call["status"] for call in done["calls"]] == ["done", "done", "unknown", "done"]


def test_an_idempotent_tool_needs_nobody_to_say_so(world: World) -> None:
    run_id = killed_while(world, HANGS.replace("hang(", "hang_once("), "hang_once third")
    before = list(world.deeds)
    done = world.do("resume", run_id=run_id)
    assert done["value"] == ["saw first", "noted second", "done third", "noted fourth"]
    assert world.deeds == [*before, "hang_once third", "note fourth"]


def test_what_is_unknown_is_made_again_if_somebody_says_so(world: World) -> None:
    run_id = killed_while(world, HANGS.replace("hang(", "hang_plain("), "hang_plain third")
    done = world.do("resume", run_id=run_id, repeat=["*"])
    assert done["value"][2] == "done third"
    assert world.deeds.count("hang_plain third") == 2


def test_a_run_with_an_unknown_end_stays_until_somebody_decides(world: World) -> None:
    run_id = killed_while(world, HANGS.replace("hang(", "hang_plain("), "hang_plain third")
    before = list(world.deeds)
    assert list(world.do("undecided", run_id=run_id).values()) == ["hang_plain"]
    refused = world.do("resume", run_id=run_id, repeat=None)
    assert refused["raised"] == "E_RUN_BUSY"
    assert "hang_plain" in refused["message"]
    assert world.deeds == before
    done = world.do("resume", run_id=run_id, repeat=["*"])
    assert done["value"][2] == "done third"


def test_a_run_that_is_over_or_under_way_does_not_go_on(world: World) -> None:
    over = world.run("return await note(what='x')")
    assert world.resume(over)["raised"] == "E_RUN_BUSY"
    host = world.start("run", script=HANGS)
    until(world, "hang third")
    [running] = [run for run in world.runs() if run["status"] == "running"]
    assert world.do("resume", run_id=running["run_id"])["raised"] == "E_RUN_BUSY"
    host.kill()


def test_a_run_under_way_is_not_called_cut_off(world: World) -> None:
    host = world.start("run", script=HANGS.replace("hang(", "hang_plain("))
    until(world, "hang_plain third")
    [running] = [run for run in world.runs() if run["status"] == "running"]
    refused = world.do("resume", run_id=running["run_id"], repeat=None)
    assert refused["raised"] == "E_RUN_BUSY"
    assert "goes on" in refused["message"]
    assert "hang_plain" not in refused["message"]
    host.kill()


def test_staged_changes_that_died_with_the_host_are_made_again(world: World) -> None:
    script = """
await write_file(path="one.txt", content="1")
await note(what="after one")
text = (await read_file(path="one.txt"))["content"]
await hang_once(what="x")
await write_file(path="two.txt", content=text + "2")
"""
    run_id = killed_while(world, script, "hang_once x")
    assert not (world.workspace / "one.txt").exists()
    done = world.do("resume", run_id=run_id)
    assert done["status"] == "success"
    assert (world.workspace / "one.txt").read_text() == "1"
    assert (world.workspace / "two.txt").read_text() == "12"
    assert world.deeds == ["note after one", "hang_once x", "hang_once x"]
    counted = recorded(world, run_id).usage.calls
    assert counted == {"write_file": 2, "note": 1, "read_file": 1, "hang_once": 2}


def test_changes_that_had_landed_are_not_made_again(world: World) -> None:
    script = """
await write_file(path="one.txt", content="1")
await run_command(command="true")
await hang_once(what="x")
await write_file(path="two.txt", content="2")
"""
    run_id = killed_while(world, script, "hang_once x")
    one = world.workspace / "one.txt"
    assert one.read_text() == "1"
    one.write_text("edited by somebody")
    done = world.do("resume", run_id=run_id)
    assert done["status"] == "success"
    assert one.read_text() == "edited by somebody"
    assert (world.workspace / "two.txt").read_text() == "2"


class Unreadable(Store):
    """A store that does not tell the record of a run."""

    async def events(self, run_id: str) -> list[Event]:
        """Fail."""
        raise StateError("the record cannot be read now")


@pytest.mark.parametrize("then", ["undo", "cancel", "resume"])
def test_a_run_that_cannot_go_on_now_stays_as_it_was(world: World, then: str) -> None:
    script = """
await write_file(path="one.txt", content="1")
await run_command(command="true")
return await hang_once(what="x")
"""
    run_id = killed_while(world, script, "hang_once x")
    order = {"log": world.folder / "log", "workspace": world.workspace, "engine": world.engine}

    async def fail() -> None:
        store = Unreadable(world.folder / "state" / "runs.db")
        async with session({**order, "store": store}) as here:
            for _ in range(2):
                with pytest.raises(StateError, match="cannot be read now"):
                    await here.resume(run_id, repeat=["*"])
            assert (await here.summary(run_id)).status == "interrupted"
            if then == "undo":
                assert [each.path for each in await here.undo(run_id)] == ["one.txt"]
            elif then == "cancel":
                await here.cancel(run_id)
                assert (await here.summary(run_id)).status == "cancelled"

    asyncio.run(fail())
    if then == "resume":
        assert world.do("resume", run_id=run_id)["value"] == "done x"


def test_a_run_that_was_cut_off_is_replayed_once_it_is_over(world: World) -> None:
    run_id = killed_while(world, 'return await hang_once(what="x")', "hang_once x")
    order = {"log": world.folder / "log", "workspace": world.workspace, "engine": world.engine}

    async def replay() -> None:
        async with session({**order, "store": world.folder / "state" / "runs.db"}) as here:
            with pytest.raises(StateError, match="was cut off when its process died; it can be"):
                await here.replay(run_id)
            assert (await here.resume(run_id)).value == "done x"
            assert (await here.replay(run_id)).difference is None

    asyncio.run(replay())


def test_what_was_known_comes_back_beside_a_timer(world: World) -> None:
    script = """
first, _ = await asyncio.gather(look(what="first"), asyncio.sleep(0.2))
return [first, await hang_once(what="x")]
"""
    run_id = killed_while(world, script, "hang_once x")
    done = world.do("resume", run_id=run_id)
    assert done["value"] == ["saw first", "done x"]
    assert world.deeds == ["look first", "hang_once x", "hang_once x"]


@pytest.mark.parametrize(
    "step", ["checked", "committed", "temporary-made", "file-placed", "applied", "journal-done"]
)
def test_a_host_that_dies_while_its_last_changes_land_makes_them_once(
    world: World, step: str
) -> None:
    (world.workspace / "a.txt").write_text("one")
    script = """
await note(what="begun")
await edit_file(path="a.txt", old="one", new="two")
await move_file(source="a.txt", target="b.txt")
return (await read_file(path="b.txt"))["content"]
"""
    run_id = died(world, script, dies_at=step)
    done = world.do("resume", run_id=run_id)
    assert (done["status"], done["value"]) == ("success", "two")
    assert [path.name for path in world.workspace.iterdir()] == ["b.txt"]
    assert world.deeds == ["note begun"]


def test_what_recovery_left_alone_is_named_by_the_run_that_goes_on(world: World) -> None:
    (world.workspace / "a.txt").write_text("one")
    script = """
await note(what="begun")
await write_file(path="a.txt", content="two")
await write_file(path="b.txt", content="b")
"""
    run_id = died(world, script, dies_at="committed")
    (world.workspace / "a.txt").write_text("theirs")
    done = world.do("resume", run_id=run_id)
    assert done["status"] == "success"
    assert [f["path"] for f in done["findings"] if f["code"] == "left-alone"] == ["a.txt"]
    assert (world.workspace / "a.txt").read_text() == "theirs"
    assert (world.workspace / "b.txt").read_text() == "b"


def test_a_call_that_is_known_to_have_ended_is_recorded_so(world: World) -> None:
    script = 'return [await note(what="first"), await note(what="second")]'
    run_id = died(world, script, dies_after="note first")
    done = world.do("resume", run_id=run_id)
    assert done["value"] == ["noted first", "noted second"]
    assert world.deeds == ["note first", "note second"]
    assert [call["status"] for call in done["calls"]] == ["done", "done"]
    assert [call.status for call in recorded(world, run_id).calls] == ["done", "done"]


def test_a_call_with_an_unknown_end_stays_so_in_the_record(world: World) -> None:
    run_id = killed_while(world, HANGS, "hang third")
    world.do("resume", run_id=run_id)
    statuses = [call.status for call in recorded(world, run_id).calls]
    assert statuses == ["done", "done", "unknown", "done"]
