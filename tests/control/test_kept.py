"""A store that cannot be used: the run's result says so, and nothing is done that is not kept."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from lineshaft import Context, Event, Policy, Session, Tool
from lineshaft.errors import RecordError, StateError
from lineshaft.store import Store
from lineshaft.values import Call, Done, Failure, LogRow, RunClaim
from native import own_state
from support import Outside

NO_DATABASE = b"this is no database" * 1_000
OPEN = Policy(mode="open")


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Return a store file that is none."""
    path = tmp_path / "runs.db"
    path.write_bytes(NO_DATABASE)
    return path


SWALLOWS = "try:\n    await poke()\nexcept Exception:\n    return 'went on'"


async def test_a_call_that_cannot_be_kept_is_not_made(
    tmp_path: Path, damaged: Path, outside: Outside
) -> None:
    poke = outside.tool("poke", effect="external")
    async with Session([poke], workspace=tmp_path, policy=OPEN, store=damaged) as session:
        result = await session.run(SWALLOWS)
    assert outside.total == 0
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code in ("E_STORE", "E_RECORD")  # whichever was to be written first
    assert "'runs.db' is damaged: the file is no database" in result.error.message
    assert damaged.read_bytes() == NO_DATABASE


@pytest.mark.parametrize("replaced", [False, True])
async def test_nor_is_one_whose_record_lost_its_file(
    tmp_path: Path, outside: Outside, *, replaced: bool
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    store = tmp_path / "state" / "runs.db"
    poke = outside.tool("poke", effect="external")

    async def lose() -> None:
        """Lose the record."""
        for path in store.parent.iterdir():
            path.unlink()
        if replaced:
            copy.replace(store)

    copy = tmp_path / "copy.db"
    tools = [poke, Tool.from_function(lose, effect="external")]
    async with Session([], workspace=folder, policy=OPEN, store=copy) as session:
        await session.run("return 1")
    async with Session(tools, workspace=folder, policy=OPEN, store=store) as session:
        result = await session.run("await lose()\n" + SWALLOWS)
        assert result.error is not None
        assert result.error.code in ("E_STORE", "E_RECORD")
        assert "'runs.db' was deleted or replaced while it was in use" in result.error.message
        assert "later runs begin a new store" in result.error.hint
        assert outside.total == 0
    async with Session(tools, workspace=folder, policy=OPEN, store=store) as session:
        later = await session.run("await poke()\nreturn 2")
    assert (later.status, later.value, outside.total) == ("success", 2, 1)
    read = Store(store)
    assert later.run_id in {run.run_id for run in await read.runs()}
    await read.aclose()


@pytest.mark.parametrize("script", ["await poke()", "return 1"])
async def test_what_cannot_be_kept_says_what_to_do(
    tmp_path: Path, damaged: Path, outside: Outside, script: str
) -> None:
    poke = outside.tool("poke", effect="external")
    async with Session([poke], workspace=tmp_path, policy=OPEN, store=damaged) as session:
        ran = await session.run(script)
        called = await session.call("poke", {})
    hints = [each.error.hint for each in (ran, called) if each.error is not None]
    assert hints == ["move the file away (a new store is begun), or put it back from a copy"] * 2


async def test_nor_is_one_where_nobody_gave_a_store(
    tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_state(tmp_path, monkeypatch) / "runs.db").write_bytes(NO_DATABASE)
    poke = outside.tool("poke", effect="external")
    async with Session([poke], workspace=tmp_path, policy=OPEN) as session:
        result = await session.run(SWALLOWS)
    assert outside.total == 0
    assert result.error is not None
    assert result.error.code == "E_STORE"
    assert "what this run does cannot be kept" in result.error.message


class Leaving:
    """A tool that begins a call in a task of its own, which nobody cancels."""

    def __init__(self, *, stays: bool) -> None:
        self.tasks: list[asyncio.Future[Done]] = []
        self._stays = stays

    @property
    def tool(self) -> Tool:
        """Return the tool."""

        async def leave(context: Context) -> None:
            """Begin a call, and do not wait for it."""
            call = Call(tool="poke", arguments={}, origin="code")
            self.tasks.append(asyncio.ensure_future(context.dispatch(call)))
            for _ in range(100):
                await checkpoint()
            if self._stays:
                await anyio.sleep_forever()

        return Tool.from_function(leave, effect="read", container=True)

    async def told(self) -> str:
        """Return what the call came to."""
        with anyio.fail_after(20):
            done = await self.tasks[0]
        assert isinstance(done, Failure)
        return done.message


@pytest.mark.long
async def test_a_call_that_outlives_its_run_is_not_made_where_it_cannot_be_kept(
    tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is locked; the call waits for it when the script is over."""
    state = own_state(tmp_path, monkeypatch)
    defaults = {**(Store.__init__.__kwdefaults__ or {}), "patience": 2.0}
    monkeypatch.setattr(Store.__init__, "__kwdefaults__", defaults)
    leaving = Leaving(stays=False)
    tools = [outside.tool("poke", effect="external"), leaving.tool]
    async with Store() as store:
        await store.runs()
    with closing(sqlite3.connect(state / "runs.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        async with Session(tools, workspace=tmp_path, policy=OPEN) as session:
            await session.run("await leave()")
            assert "the run is over" in await leaving.told()
    assert outside.total == 0


async def test_a_task_of_a_tools_own_hears_of_the_end_of_its_run(
    tmp_path: Path, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_state(tmp_path, monkeypatch) / "runs.db").write_bytes(NO_DATABASE)
    leaving = Leaving(stays=True)
    tools = [outside.tool("poke", effect="external"), leaving.tool]
    async with Session(tools, workspace=tmp_path, policy=OPEN) as session:
        result = await session.run("await leave()")
        assert "the run is over" in await leaving.told()
    assert result.error is not None
    assert (result.error.code, outside.total) == ("E_STORE", 0)


@pytest.mark.parametrize("kind", ["call_asked", "call_started"])
async def test_nor_is_its_call_made_where_it_cannot_be_recorded(
    tmp_path: Path, outside: Outside, kind: str
) -> None:
    def full(event: Event) -> None:
        if event.kind == kind and event.call_id not in (None, "1"):
            raise OSError(28, "No space left on device")

    leaving = Leaving(stays=True)
    tools = [outside.tool("poke", effect="external"), leaving.tool]
    async with Session(
        tools, workspace=tmp_path, policy=OPEN, store=False, sinks=[full]
    ) as session:
        result = await session.run("await leave()")
        assert "the run is over" in await leaving.told()
    assert result.error is not None
    assert (result.error.code, outside.total) == ("E_RECORD", 0)


async def test_a_run_whose_end_cannot_be_kept_says_so_once(tmp_path: Path, damaged: Path) -> None:
    async with Session(workspace=tmp_path, store=damaged) as session:
        result = await session.run("return 1")
    assert result.status == "error"
    assert result.error is not None
    assert "the file is no database" in result.error.message


async def test_what_could_not_be_written_is_said_once(damaged: Path) -> None:
    claim = RunClaim(run_id="r", workspace="w")
    row = LogRow(kind="log", at="2026-01-01T00:00:00.000Z", event_seq=1, shown=(("log", {}),))
    store = Store(damaged)
    store.append(claim, [row])
    with pytest.raises(RecordError, match="the file is no database"):
        await store.aclose()
    again = Store(damaged)
    again.append(claim, [row])
    with pytest.raises(StateError, match="the file is no database"):
        await again.flush()
    await again.aclose()
