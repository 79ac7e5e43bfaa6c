"""The thread that writes: in groups, in order, and never without bounds."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from concurrent.futures import Future
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

import anyio
import pytest

from lineshaft.errors import ConfigError, RecordError, StateError
from lineshaft.store import Store
from lineshaft.store._database import Database, Location, Transaction
from lineshaft.store._faults import told
from lineshaft.store._key import Keys
from lineshaft.store._log import step_of
from lineshaft.store._writer import WriteJob, Writer
from lineshaft.values import EventKind, LogRow, RunClaim, Value
from store.samples import (
    KEY,
    begin,
    call,
    environment,
    event,
    finished,
    pause,
    program,
    run,
    sink,
    started,
)


async def test_nothing_is_opened_before_it_is_needed(path: Path) -> None:
    async with Store(path, key=KEY) as store:
        sink(store, "/w")
    assert not path.parent.exists()


def test_nothing_but_the_standard_library_reads_and_writes_a_store() -> None:
    code = (
        "import sys, lineshaft.store\n"
        "print([each for each in ('sqlite3', 'sqlalchemy') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['sqlite3']\n"


async def test_the_event_loop_goes_on_while_the_store_works(store: Store) -> None:
    """One long transaction: the loop is asked for a turn all the time, and gets it."""
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    state = await begin(store, run())
    async with anyio.create_task_group() as group:
        group.start_soon(turn)
        await state.finished(call(1), Value("x" * 5_000_000))
        group.cancel_scope.cancel()
    assert turns > 10


async def test_what_is_handed_over_is_written_though_nobody_waits(store: Store) -> None:
    state = await begin(store, run())
    with anyio.CancelScope() as scope:
        scope.cancel()
        await state.finished(call(1), Value(1))
    assert [each.call.id for each in (await store.load("r")).finished] == ["c1"]


async def test_reads_are_kept_in_their_order_without_a_wait_each(store: Store) -> None:
    state = await begin(store, run())
    for n in range(200):
        await state.finished(call(n, "read"), Value(n))
    await state.flush()
    ids = [each.call.id for each in (await store.load("r")).finished]
    assert ids == [f"c{n}" for n in range(200)]


class Syncs:
    """A clock that counts commits which wait for the disk: the store asks it in each transaction.

    In this mode SQLite makes one sync for each of them.
    """

    def __init__(self) -> None:
        self.count = 0
        self._counts = True
        self._connections: list[sqlite3.Connection] = []

    def opened(self, happened: str, about: tuple[object, ...]) -> None:
        """Remember a connection; the interpreter calls this as long as it lives."""
        if self._counts and happened == "sqlite3.connect/handle":
            assert isinstance(about[0], sqlite3.Connection)
            self._connections.append(about[0])

    def __call__(self) -> datetime:
        (level,) = self._connections[-1].execute("PRAGMA synchronous").fetchone()
        self.count += level == 2
        return datetime(2030, 1, 1, tzinfo=UTC)

    def end(self) -> None:
        """Look at no further connection."""
        self._counts = False


@pytest.fixture
def syncs() -> Generator[Syncs]:
    counted = Syncs()
    sys.addaudithook(counted.opened)
    yield counted
    counted.end()


@pytest.fixture
async def counted(path: Path, syncs: Syncs) -> AsyncGenerator[Store]:
    """Return a store whose syncs are counted."""
    async with Store(path, key=KEY, clock=syncs) as store:
        yield store


async def test_an_effect_costs_two_syncs_and_a_read_none(counted: Store, syncs: Syncs) -> None:
    store = counted
    state = await begin(store, run())
    record, begun = sink(store, "/w"), syncs.count
    for n in range(10):
        record(event(n + 1))
        await state.started(call(n))
        await state.finished(call(n), Value(n))
    assert syncs.count - begun == 20
    for n in range(100):
        record(event(n + 11))
        await state.finished(call(f"r{n}", "read"), Value(n))
        await state.finished(call(f"s{n}", "write", staged=True), Value(n))
    await store.flush()
    assert syncs.count - begun == 20
    await state.flush()
    await state.paused(pause("c1", snapshot=b"x"))
    assert syncs.count - begun == 22


async def test_calls_that_act_at_once_share_their_syncs(counted: Store, syncs: Syncs) -> None:
    store = counted
    state = await begin(store, run())
    begun = syncs.count

    async def act(n: int) -> None:
        await state.started(call(n))
        await state.finished(call(n), Value(n))

    async with anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(act, n)
    assert syncs.count - begun < 50
    saved = await store.load("r")
    assert (len(saved.finished), saved.unknown) == (50, ())


async def test_a_store_that_was_closed_opens_again(store: Store) -> None:
    record = sink(store, "/w")
    record(started())
    await store.aclose()
    await store.aclose()
    record(finished(2))
    assert len(await store.events("r")) == 2


async def test_a_store_serves_one_event_loop_after_another(path: Path) -> None:
    store = Store(path, key=KEY)

    def in_a_loop(work: Callable[[], object]) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(20)

    async def keep(run_id: str) -> None:
        await (await begin(store, run(run_id))).started(call(1))

    for run_id in ("a", "b"):
        in_a_loop(lambda run_id=run_id: asyncio.run(keep(run_id)))
    for run_id in ("a", "b"):
        assert (await store.load(run_id)).unknown == (call(1),)
    await store.aclose()


def test_what_waits_at_the_end_of_the_process_is_written(tmp_path: Path) -> None:
    body = "sink(store, '/w')(event(1, 'run_started'))"
    path = tmp_path / "store.db"
    subprocess.run(
        [sys.executable, "-c", program(body), str(path)],
        env=environment(),
        check=True,
        timeout=60,
    )

    async def read() -> int:
        async with Store(path, key=KEY) as store:
            return len(await store.events("r"))

    assert asyncio.run(read()) == 2


class Stuck:
    """A disk that does not answer until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.let_go = threading.Event()

    def open(self) -> Database:
        self.reached.set()
        self.let_go.wait(20)
        raise OSError(5, "Input/output error")


@pytest.fixture
def stuck() -> Stuck:
    return Stuck()


@pytest.fixture
def writer(stuck: Stuck) -> Writer:
    return Writer(stuck.open, explain=lambda error: told(error, "store.db"))


def append(writer: Writer, row: LogRow) -> "Future[None]":
    """Hand a row of run `r` to a writer, as a store does."""
    step, of = step_of(row), RunClaim(run_id="r", workspace="/w")

    def act(transaction: Transaction) -> None:
        transaction.log.append(of, [step])

    return writer.ask(WriteJob(act=act, keep=True, size=step.size))


def output(text: str) -> LogRow:
    """Return a row that shows some output."""
    shown = ("output", {"stream": "stdout", "text": text})
    return LogRow(kind="output", at="2030-01-01T00:00:00.000Z", event_seq=1, shown=(shown,))


async def test_a_disk_that_does_not_answer_ends_in_an_error(
    path: Path, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:

    def opened(_: Store) -> Database:
        return stuck.open()

    monkeypatch.setattr(Store, "_open", opened)
    monkeypatch.setattr("lineshaft.store._store._STUCK", 0.05)
    store = Store(path, key=KEY, patience=0)
    with pytest.raises(StateError, match=r"gave no answer within 0.05 s"):
        await store.flush()
    with pytest.raises(RecordError, match=r"within 0.05 s"):
        store.close()
    stuck.let_go.set()


async def test_what_waits_for_a_disk_is_bounded(stuck: Stuck, writer: Writer) -> None:
    large = output("x" * 1_000_000)
    append(writer, output(""))
    assert stuck.reached.wait(20)
    for _ in range(64):
        writer.check()
        append(writer, large)
    with pytest.raises(StateError, match="does not keep up: 64 steps wait"):
        writer.check()
    stuck.let_go.set()
    with pytest.raises(RecordError, match="cannot be used: Input/output error"):
        writer.close(20)


class Threads:
    """A system that allows the store no further thread until there is room."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = False
        start = threading.Thread.start

        def scarce(thread: threading.Thread) -> None:
            if thread.name == "lineshaft-store" and not self.room:
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", scarce)


async def test_a_store_works_once_a_thread_can_be_started(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, record = Threads(monkeypatch), sink(store, "/w")
    with pytest.raises(StateError, match="can't start new thread") as caught:
        await store.flush()
    assert "raise `ulimit -u` or `ulimit -v`" in caught.value.hint
    with pytest.raises(RecordError, match="can't start new thread"):
        record(started())
    threads.room = True
    with pytest.raises(RecordError, match="can't start new thread"):
        record(started())  # with which it is tried again
    record(started())
    assert len(await store.events("r")) == 1


async def test_a_row_is_kept_until_a_thread_can_be_started(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads(monkeypatch)
    sink(store, "/w")(started())
    with pytest.raises(RecordError, match="can't start new thread"):
        store.close()
    store.close()
    threads.room = True
    assert len(await store.events("r")) == 1
    sink(store, "/w")(finished(2))
    store.close()
    assert len(await store.events("r")) == 2


async def test_a_row_that_no_thread_could_be_started_for_is_written_at_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads(monkeypatch)
    sink(store, "/w")(started())
    threads.room = True
    store.close()
    assert len(await store.events("r")) == 1


async def test_what_was_committed_is_neither_told_as_failed_nor_written_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tidy(_: Database, *, thoroughly: bool = False) -> None:
        if thoroughly:
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Database, "tidy", tidy)
    record = sink(store, "/w")
    record(started())
    record(finished(2))  # in the group of the next line
    pruned = await store.prune(days=30)
    assert pruned.records == 0
    assert [each.seq for each in await store.events("r")] == [1, 2]


class Renewed(Database):
    """A database that says when leases are renewed."""

    def __init__(self, location: Location, renewals: "SimpleQueue[int]") -> None:
        self._renewals = renewals
        super().__init__(location)

    def renew(self) -> int:
        held = super().renew()
        self._renewals.put(held)
        return held


async def test_leases_are_renewed_as_long_as_a_run_goes_on(path: Path) -> None:
    location = Location(
        path=path,
        keys=Keys(KEY),
        keep_days=7,
        patience=5,
        clock=lambda: datetime(2030, 1, 1, tzinfo=UTC),
    )
    renewals: SimpleQueue[int] = SimpleQueue()
    writer = Writer(
        lambda: Renewed(location, renewals), explain=lambda e: told(e, "store.db"), renewal=0.01
    )
    exact: dict[str, object] = {"workspace": "/w", "document": dict[str, object]()}
    append(writer, LogRow(kind="begin", at="2030-01-01T00:00:00.000Z", exact=exact)).result(20)
    assert [renewals.get(timeout=20) for _ in range(3)] == [1, 1, 1]
    with closing(sqlite3.connect(path)) as connection:
        (left,) = connection.execute(
            "SELECT lease_until - (julianday('now') - 2440587.5) * 86400.0 FROM runs"
        ).fetchone()
    assert 0 < left <= 30.001
    end: tuple[EventKind, dict[str, object]] = ("run_finished", {"status": "success"})
    last = LogRow(
        kind="end", at="2030-01-01T00:00:00.000Z", event_seq=1, shown=(end,), exact={"end": {}}
    )
    append(writer, last).result(20)
    while renewals.get(timeout=20):
        pass
    writer.close(20)


async def test_handing_an_event_over_takes_no_time(store: Store) -> None:
    """Not a measurement: a thousand times what it should take would still pass."""
    record = sink(store, "/w")
    one = event(1, "progress", done=1)
    begun = time.perf_counter()
    for _ in range(1_000):
        record(one)
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("where", ["sqlite://", "sqlite:///", "sqlite:///:memory:?x=1", "", " "])
def test_a_place_that_is_no_file_is_refused(where: str) -> None:
    with pytest.raises(ConfigError):
        Store(where)


async def test_the_url_of_a_file_is_that_file(path: Path) -> None:
    async with Store(f"sqlite:///{path}", key=KEY) as store:
        await begin(store, run())
    assert path.exists()
    assert repr(store) == f"Store({str(path)!r})"


@pytest.mark.parametrize("name", ["a b.db", "100%41.db", "x?mode=memory.db", "#1.db", "\udcff.db"])
async def test_a_store_may_have_any_name(tmp_path: Path, name: str) -> None:
    async with Store(tmp_path / name, key=KEY) as store:
        sink(store, "/w")(started())
        assert [each.run_id for each in await store.runs()] == ["r"]
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".db"] == [name]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql+psycopg://u:hunter2@h/x", "a postgresql database is none: .* not yet shared"),
        ("nonsense://u:hunter2@h/x", "a nonsense database is none"),
        ("://hunter2", "this URL is none"),
    ],
)
def test_a_url_of_a_shared_database_is_refused_without_its_password(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        Store(url, key=KEY)
    assert "hunter2" not in repr(caught.value) + caught.value.hint


@pytest.mark.parametrize("where", ["sqlite:///~no-such-user/x.db", "~no-such-user/x.db"])
def test_the_home_of_a_user_who_is_unknown_is_refused(where: str) -> None:
    with pytest.raises(ConfigError, match=r"'~no-such-user/x.db' .* no such user"):
        Store(where, key=KEY)


async def test_what_cannot_be_written_is_its_own_runs_error_alone(store: Store) -> None:
    loop: list[object] = []
    loop.append(loop)
    take = sink(store, "/w")
    take(started())
    with pytest.raises(RecordError, match="ValueError"):
        take(event(2, "log", "r", text=loop))
    take(started("other"))
    assert [each.kind for each in await store.events("r")] == ["run_started"]
    assert [each.kind for each in await store.events("other")] == ["run_started"]


async def test_one_piece_that_no_database_takes_does_not_keep_the_others_back(store: Store) -> None:
    """They are in one group: half a character in the id of a run, and what is fit to be kept."""
    take = sink(store, "/w")
    take(started())
    take(event(1, "log", "\ud800"))
    take(event(2, "log", text="after it"))
    with pytest.raises(StateError):
        await store.events("\ud800")
    take(started("other"))
    assert [each.seq for each in await store.events("r")] == [1, 2]
    assert [each.seq for each in await store.events("other")] == [1]
