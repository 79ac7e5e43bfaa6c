"""How long a run can be undone: as long as the session's store keeps what is needed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from control.world import Open
from lineshaft import Answer, RunResult, tool
from lineshaft.errors import RunBusy, StateError, StateExpired
from lineshaft.store import Store
from lineshaft.values import Event, Finding
from lineshaft.workspace import Folder

VERSION_1 = Path(__file__).parent.parent / "store" / "version_1.sql"
WRITES = "await write_file(path='a.txt', content='mine')"


@pytest.mark.parametrize("engine", ["wasm"])
async def test_a_store_says_for_how_long_a_run_can_be_undone(
    opened: Open, workspace: Path, tmp_path: Path, engine: str
) -> None:
    del engine  # of the session
    async with opened(store=Store(tmp_path / "s.db", keep_days=0)) as session:
        done = await session.run(WRITES)
        with pytest.raises(StateExpired):
            await session.undo(done.run_id)
        assert (workspace / "a.txt").read_text() == "mine"
    async with opened(store=Store(tmp_path / "s.db", keep_days=1)) as session:
        (workspace / "a.txt").unlink()
        done = await session.run(WRITES)
        await session.undo(done.run_id)
        assert not (workspace / "a.txt").exists()


@pytest.mark.parametrize("kind", ["run_started", "call_asked", "call_started", "call_finished"])
async def test_a_run_that_a_sink_ended_has_its_end_and_is_undone(
    opened: Open, workspace: Path, kind: str
) -> None:
    heard: list[Event] = []

    def sink(event: Event) -> None:
        """Fail at an event after the first landing, or at the first of all."""
        if event.kind == kind and (kind == "run_started" or (workspace / "a.txt").exists()):
            raise OSError("no room")

    script = f"{WRITES}\nawait run_command(command='true')\nawait note(what='x')"
    async with opened(sinks=[sink, heard.append]) as session:
        done = await session.run(script)
        assert done.error is not None
        assert (done.error.code, "no room" in done.error.message) == ("E_RECORD", True)
        assert (await session.summary(done.run_id)).status == "error"
        assert heard[-1].kind == "run_finished"
        if done.landed:
            await session.undo(done.run_id)
        assert not (workspace / "a.txt").exists()


async def test_a_run_that_goes_on_is_not_undone(opened: Open, workspace: Path) -> None:
    there, leave = anyio.Event(), anyio.Event()

    @tool(effect="external")
    async def holds() -> None:
        """Wait outside."""
        there.set()
        await leave.wait()

    script = f"{WRITES}\nawait run_command(command='true')\nawait holds()\nreturn 1"
    async with opened(holds) as session, opened() as other:
        run = await session.start(script)
        await there.wait()
        assert (workspace / "a.txt").read_text() == "mine"
        with pytest.raises(RunBusy, match="goes on"):
            await other.undo(run.run_id)
        leave.set()
        assert (await run.result()).value == 1
        await other.undo(run.run_id)
        assert not (workspace / "a.txt").exists()


async def test_a_run_that_goes_on_meanwhile_is_not_undone(
    opened: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, leave = anyio.Event(), anyio.Event()

    @tool(effect="external")
    async def holds() -> None:
        """Wait outside."""
        there.set()
        await leave.wait()

    recover, found = Folder.recover, list[RunResult]()
    script = (
        f"{WRITES}\nawait run_command('true')\nawait poke(what='asked')\nawait holds()\nreturn 1"
    )
    async with opened(holds) as session, opened() as other, anyio.create_task_group() as group:
        paused = await session.run(script)
        assert (paused.status, (workspace / "a.txt").read_text()) == ("paused", "mine")

        async def go_on() -> None:
            found.append(await session.resume(paused.run_id, {"*": Answer(allow=True)}))

        async def race(folder: Folder) -> tuple[Finding, ...]:
            """Have the run go on once the undo has seen that it waits."""
            monkeypatch.undo()
            group.start_soon(go_on)
            await there.wait()
            return await recover(folder)

        monkeypatch.setattr(Folder, "recover", race)
        with pytest.raises(RunBusy, match="goes on"):
            await other.undo(paused.run_id)
        assert (workspace / "a.txt").read_text() == "mine"
        leave.set()
    assert [(each.status, each.value) for each in found] == [("success", 1)]


async def test_a_store_that_cannot_be_read_keeps_nobody_from_undoing(
    opened: Open, workspace: Path, tmp_path: Path
) -> None:
    store = tmp_path / "s.db"
    async with opened(store=store) as session:
        done = await session.run(WRITES)
    assert (workspace / "a.txt").read_text() == "mine"
    for file in tmp_path.glob("s.db*"):
        file.write_bytes(b"no store" * 1_000)
    async with opened(store=store) as session:
        await session.undo(done.run_id)
    assert not (workspace / "a.txt").exists()


async def test_a_run_of_an_earlier_version_can_be_undone(
    opened: Open, workspace: Path, tmp_path: Path
) -> None:
    """Its record is in a store of that version; its journals are where they always were."""
    async with opened(store=tmp_path / "s.db") as session:
        done = await session.run(WRITES)
    for file in tmp_path.glob("s.db*"):
        file.unlink()
    older = VERSION_1.read_text(encoding="utf-8").replace("'over'", f"'{done.run_id}'")
    older = older.replace("'/w'", f"'{workspace}'")
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        connection.executescript(older)
    async with opened(store=tmp_path / "s.db") as session:
        assert (await session.summary(done.run_id)).status == "success"
        with pytest.raises(StateError, match="earlier version"):
            await session.replay(done.run_id)
        await session.undo(done.run_id)
    assert not (workspace / "a.txt").exists()
