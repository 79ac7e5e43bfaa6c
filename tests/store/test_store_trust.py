"""State that something else touched is not used: every row, every field, in every way."""

import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, StateError, UntrustedState
from lineshaft.store import Store
from lineshaft.values import Value
from store.samples import KEY, begin, call, pause, resume, run


async def keep(
    store: Store, run_id: str = "r", *, paused: bool = True, other: bool = False
) -> None:
    """Keep a run with rows of every kind."""
    state = await begin(store, run(run_id, other=other))
    first = replace(call(1), rule="another") if other else call(1)
    await state.started(first)
    await state.finished(first, Value(str(other)))
    await state.finished(call(2, "read"), Value(2))
    await state.started(call(3))
    if paused:
        waits = pause("c5" if other else "c4", snapshot=b"one", stage=b"two" * 10_000)
        await state.paused(waits)
    else:
        await state.over(replayable=True, end={"value": 1})
    await store.aclose()


@contextmanager
def behind(path: Path) -> Generator[sqlite3.Connection]:
    """Open the file behind the store's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def change(path: Path, *statements: str) -> int:
    """Change the file behind the store's back; return how many rows that touched."""
    with behind(path) as connection:
        return sum(connection.execute(statement).rowcount for statement in statements)


def rows(path: Path) -> list[int]:
    with behind(path) as connection:
        return [seq for (seq,) in connection.execute("SELECT seq FROM log")]


def put_back(path: Path, earlier: Path, kind: str) -> None:
    """Put rows of a kind, or large contents, back to what they were in a copy of the file."""
    table, which = ("blobs", "1") if kind == "blob" else ("log", f"kind = '{kind}'")
    with behind(path) as connection:
        connection.execute("ATTACH ? AS earlier", (str(earlier),))
        connection.execute(f"DELETE FROM {table} WHERE {which}")  # noqa: S608  names of our own
        connection.execute(
            f"INSERT INTO {table} SELECT * FROM earlier.{table} WHERE {which}"  # noqa: S608  names of our own
        )


FIELDS = {
    "workspace": "'/elsewhere'",
    "phase": "'running'",
    "seq": "seq - 1",
    "head": "zeroblob(32)",
    "seal": "zeroblob(32)",
    "key_id": "'0000'",
    "keep_until": "'2099-01-01T00:00:00.000Z'",
}


@pytest.mark.parametrize("column", sorted(FIELDS))
async def test_a_field_of_the_runs_own_row_that_was_changed_is_seen(
    store: Store, path: Path, column: str
) -> None:
    await keep(store)
    assert change(path, f"UPDATE runs SET {column} = {FIELDS[column]}") == 1  # noqa: S608  names of our own
    with pytest.raises(UntrustedState):
        await store.load("r")


@pytest.mark.parametrize("paused", [True, False])
async def test_every_row_is_checked_whole(
    store: Store, path: Path, tmp_path: Path, *, paused: bool
) -> None:
    await keep(store, paused=paused)
    copy = tmp_path / "copy.db"
    for seq in rows(path):
        for what in (
            "DELETE FROM log",
            "UPDATE log SET exact = substr(exact, 1, length(exact) - 1)",
            "UPDATE log SET exact = exact || x'ff'",
            "UPDATE log SET exact = x''",
            "UPDATE log SET exact = NULL",
            "UPDATE log SET shown = 'x'",
            "UPDATE log SET mac = zeroblob(32)",
            "UPDATE log SET call_id = 'c99'",
            "UPDATE log SET at = '2029-01-01T00:00:00.000Z'",
            "UPDATE log SET seq = seq + 100",
            "UPDATE log SET kind = 'progress', seq = seq + 50",
        ):
            shutil.copy(path, copy)
            with behind(copy) as connection:
                done = connection.execute(f"{what} WHERE seq = ?", (seq,))
                assert done.rowcount == 1
            with pytest.raises(UntrustedState):
                await _saved(copy)


async def _saved(path: Path) -> None:
    async with Store(path, key=KEY) as store:
        await store.load("r")


async def test_no_byte_of_a_row_can_be_changed(store: Store, path: Path, tmp_path: Path) -> None:
    await keep(store)
    copy = tmp_path / "copy.db"
    with behind(path) as connection:
        body = connection.execute("SELECT exact FROM log WHERE kind = 'begin'").fetchone()[0]
    for at in range(len(body)):
        shutil.copy(path, copy)
        garbled = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        with behind(copy) as connection:
            connection.execute("UPDATE log SET exact = ? WHERE kind = 'begin'", (garbled,))
        with pytest.raises(StateError):
            await _saved(copy)


@pytest.mark.parametrize("column", ["exact", "mac"])
@pytest.mark.parametrize("kind", ["begin", "call", "started", "ended", "checkpoint"])
async def test_rows_cannot_be_moved_between_runs(
    store: Store, path: Path, kind: str, column: str
) -> None:
    await keep(store)
    await keep(store, "q", other=True)
    same = "o.run = 'q' AND o.seq = log.seq"
    moved = f"UPDATE log SET {column} = (SELECT {column} FROM log o WHERE {same})"  # noqa: S608  names of our own
    if kind == "started" and column == "exact":
        moved = "UPDATE log SET exact = x'02007b7d20'"
    assert change(path, f"{moved} WHERE run = 'r' AND kind = '{kind}'") > 0
    with pytest.raises(UntrustedState, match="not what was kept"):
        await store.load("r")
    assert (await store.load("q")).pause is not None


async def test_rows_of_one_run_cannot_change_places(store: Store, path: Path) -> None:
    await keep(store)
    change(
        path,
        "UPDATE log SET seq = 99 WHERE kind = 'ended' AND seq = 4",
        "UPDATE log SET seq = 4 WHERE kind = 'ended' AND seq = 6",
        "UPDATE log SET seq = 6 WHERE kind = 'ended' AND seq = 99",
    )
    assert rows(path) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    with pytest.raises(UntrustedState):
        await store.load("r")


async def test_a_whole_run_cannot_be_given_another_id(store: Store, path: Path) -> None:
    await keep(store)
    change(path, "UPDATE runs SET id = 'q'", "UPDATE log SET run = 'q'")
    with pytest.raises(UntrustedState):
        await store.load("q")


async def test_an_earlier_pause_of_the_same_run_cannot_be_put_back(
    store: Store, path: Path, tmp_path: Path
) -> None:
    await keep(store)
    shutil.copy(path, tmp_path / "earlier.db")
    _, state = await resume(store, "r")
    await state.started(call(4))
    await state.finished(call(4), Value(4))
    await state.paused(pause("c5", snapshot=b"later", stage=b"three"))
    await store.aclose()
    for part in ("checkpoint", "blob"):
        put_back(path, tmp_path / "earlier.db", part)
    with pytest.raises(UntrustedState):
        await resume(store, "r")


@pytest.mark.parametrize("part", ["checkpoint", "blob"])
async def test_half_of_an_earlier_pause_cannot_be_put_back(
    store: Store, path: Path, tmp_path: Path, part: str
) -> None:
    """Nothing happened between the two, so each row bears a signature for this very place."""
    earlier = tmp_path / "earlier.db"
    await keep(store)
    shutil.copy(path, earlier)
    _, state = await resume(store, "r")
    stage = b"two" * 10_000 if part == "checkpoint" else b"three"
    await state.paused(pause("c5", snapshot=b"one", stage=stage))
    await store.aclose()
    put_back(path, earlier, part)
    with pytest.raises(UntrustedState):
        await resume(store, "r")


async def test_the_last_step_of_another_past_cannot_be_put_in(
    store: Store, path: Path, tmp_path: Path
) -> None:
    """Both pasts begin alike, so each last step bears a signature for this very place."""
    await keep(store)
    shutil.copy(path, tmp_path / "other.db")
    for place, number in ((path, 4), (tmp_path / "other.db", 5)):
        async with Store(place, key=KEY) as one:
            _, state = await resume(one, "r")
            await state.started(call(number))
    async with Store(path, key=KEY) as one:
        assert [each.id for each in (await one.load("r")).unknown] == ["c3", "c4"]
    put_back(path, tmp_path / "other.db", "started")
    async with Store(path, key=KEY) as one:
        with pytest.raises(UntrustedState):
            await one.load("r")


async def test_a_run_that_cannot_be_trusted_stays_as_it_is(store: Store, path: Path) -> None:
    await keep(store)
    change(path, "UPDATE blobs SET data = x'00'")
    for _ in range(2):
        with pytest.raises(UntrustedState):
            await resume(store, "r")
    await store.aclose()
    with behind(path) as connection:
        assert connection.execute("SELECT phase, lease_no FROM runs").fetchall() == [("paused", 1)]


async def test_a_state_of_another_format_is_no_forgery(store: Store, path: Path) -> None:
    await keep(store)
    change(path, "UPDATE runs SET format = 9")
    with pytest.raises(StateError, match="has format 9, which another version") as caught:
        await resume(store, "r")
    assert not isinstance(caught.value, UntrustedState)
    change(path, "UPDATE runs SET format = 2")
    change(path, "UPDATE log SET exact = x'07' || substr(exact, 2) WHERE kind = 'begin'")
    with pytest.raises(StateError, match="has format 7, which another version"):
        await resume(store, "r")


async def test_another_key_is_named_as_the_reason(store: Store, path: Path) -> None:
    await keep(store)
    async with Store(path, key=b"another key of thirty-two bytes or so") as other:
        with pytest.raises(UntrustedState, match="signed with another key"):
            await resume(other, "r")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a state folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("LINESHAFT_STATE_KEY", raising=False)
    return tmp_path / "lineshaft"


async def test_the_key_is_made_at_first_need_for_its_owner_alone(home: Path) -> None:
    async with Store() as store:
        await store.runs()
        assert not (home / "key").exists()
        await keep(store)
    assert (home / "key").stat().st_mode & 0o777 == 0o600
    assert len((home / "key").read_bytes().strip()) == 64
    assert sorted(each.name for each in home.iterdir()) == ["key", "runs.db"]
    async with Store() as store:
        assert (await store.load("r")).pause is not None


async def test_a_key_that_is_missing_is_said_and_none_is_made_instead(home: Path) -> None:
    async with Store() as store:
        await keep(store)
    (home / "key").rename(home / "key.away")
    async with Store() as store:
        for step in (resume(store, "r"), store.load("r"), store.cancel("r")):
            with pytest.raises(UntrustedState, match=r"key that signed .* is missing"):
                await step
    assert not (home / "key").exists()
    (home / "key.away").rename(home / "key")
    async with Store() as store:
        assert (await resume(store, "r"))[0].pause is not None


async def test_a_damaged_key_is_said(home: Path) -> None:
    async with Store() as store:
        await keep(store)
    (home / "key").write_bytes(b"half")
    async with Store() as store:
        with pytest.raises(UntrustedState, match="'key' is damaged"):
            await resume(store, "r")
        with pytest.raises(UntrustedState, match="'key' is damaged"):
            await begin(store, run("q"))


async def test_a_key_that_cannot_be_read_or_kept_is_said(home: Path) -> None:
    (home / "key").mkdir(parents=True)
    async with Store(home / "runs.db") as store:
        with pytest.raises(UntrustedState, match="'key' cannot be read"):
            await begin(store, run())


async def test_a_key_that_cannot_be_made_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "x")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "link"))
    monkeypatch.delenv("LINESHAFT_STATE_KEY", raising=False)
    async with Store(path) as store:
        with pytest.raises(StateError, match="cannot be made"):
            await begin(store, run())
        await store.runs()


async def test_the_variable_wins_over_the_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "ü" * 16)
    async with Store() as store:
        await keep(store)
    assert not (home / "key").exists()
    async with Store() as store:
        await store.load("r")
    monkeypatch.delenv("LINESHAFT_STATE_KEY")
    async with Store() as store:
        with pytest.raises(UntrustedState, match="missing"):
            await store.load("r")


async def test_a_short_key_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="this one has 31"):
        Store(home / "runs.db", key=b"x" * 31)
    monkeypatch.setenv("LINESHAFT_STATE_KEY", "secret" * 5)
    async with Store() as store:
        with pytest.raises(StateError, match="LINESHAFT_STATE_KEY has 30 bytes") as caught:
            await begin(store, run())
    assert "secret" * 5 not in str(caught.value)


async def test_the_key_is_not_in_the_store(home: Path) -> None:
    async with Store() as store:
        await keep(store)
    key = (home / "key").read_bytes().strip()
    assert key not in (home / "runs.db").read_bytes()
    assert bytes.fromhex(key.decode()) not in (home / "runs.db").read_bytes()
