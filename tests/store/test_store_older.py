"""Stores of earlier versions: their records are there, and the old file stays as it was."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.trace import summarise
from store.samples import KEY, begin, run

VERSION_1 = Path(__file__).parent / "version_1.sql"
"""A store as version 1 made it, with a run of each kind."""

SHAPES = """
CREATE TABLE shapes (
    id VARCHAR(64) NOT NULL PRIMARY KEY, workspace TEXT NOT NULL, tool VARCHAR(200) NOT NULL,
    version VARCHAR(64) NOT NULL, schema TEXT NOT NULL, results INTEGER NOT NULL,
    drifted INTEGER NOT NULL, last_at VARCHAR(40) NOT NULL
);
INSERT INTO shapes VALUES
    ('i', '/w', 'peek', 'v', '{"type":"string"}', 3, 1, '2030-01-01T00:00:00.000Z');
"""
VERSION_3 = "ALTER TABLE runs ADD COLUMN lease_until REAL NOT NULL DEFAULT 0;"


@pytest.fixture(params=[1, 2, 3])
def old(path: Path, request: pytest.FixtureRequest) -> Path:
    """Return an older store, in the place that is named."""
    path.parent.mkdir()
    version = int(request.param)
    more = ("", SHAPES, SHAPES + VERSION_3)[version - 1]
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8") + more)
        connection.execute("UPDATE lineshaft_schema SET version = ?", (version,))
        connection.commit()
    return path


async def test_records_of_an_older_store_are_shown(old: Path) -> None:
    before = old.read_bytes()
    async with Store(old, key=KEY) as store:
        listed = {each.run_id: each.status for each in await store.runs()}
        assert listed == {"over": "success", "waits": "expired"}
        kinds = [each.kind for each in await store.events("over")]
        assert kinds == ["run_started", "run_finished"]
        assert summarise(await store.events("over")).status == "success"
        assert await store.find("ov") == "over"
    assert old.read_bytes() == before
    assert old.with_name("store-log.db").stat().st_mode & 0o777 == 0o600


async def test_what_runs_went_on_from_is_not_imported_and_one_line_says_so(old: Path) -> None:
    async with Store(old, key=KEY) as store:
        for step in (
            store.take("waits"),
            store.load("waits"),
            store.load("over"),
            store.cancel("waits"),
        ):
            with pytest.raises(StateError, match="was begun by an earlier version of Lineshaft"):
                await step
        end = (await store.events("waits"))[-1]
        error = end.data["error"]
        assert isinstance(error, dict)
        assert (end.kind, error["code"]) == ("run_finished", "E_EXPIRED")
        assert "only that version can go on with it" in error["message"]


async def test_it_is_imported_once_and_new_runs_go_to_the_new_file(old: Path) -> None:
    before = old.read_bytes()
    async with Store(old, key=KEY) as store:
        await begin(store, run("new"))
        await store.forget(["over"])
    async with Store(old, key=KEY) as store:
        assert {each.run_id for each in await store.runs()} == {"new", "waits"}
        assert (await store.load("new")).run == run("new")
    assert old.read_bytes() == before


async def test_the_older_store_of_the_state_folder_is_imported(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "lineshaft").mkdir(mode=0o700)
    old.rename(tmp_path / "lineshaft" / "store.db")
    async with Store(key=KEY) as store:
        assert {each.run_id for each in await store.runs()} == {"over", "waits"}
    names = {each.name for each in (tmp_path / "lineshaft").iterdir()}
    assert {"runs.db", "store.db"} <= names


async def test_shapes_of_results_are_imported(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        (version,) = connection.execute("SELECT version FROM lineshaft_schema").fetchone()
    async with Store(old, key=KEY) as store:
        found = [(each.tool, each.count) for each in await store.shapes("/w")]
    assert found == ([] if version == 1 else [("peek", 3)])


async def test_a_process_of_an_earlier_version_goes_on_with_the_older_store(old: Path) -> None:
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE runs SET name = 'later' WHERE run_id = 'over'")
        async with Store(old, key=KEY) as store:
            assert {each.run_id for each in await store.runs()} == {"over", "waits"}
        connection.execute("COMMIT")
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)


async def test_an_older_store_that_cannot_be_read_keeps_nobody_from_beginning(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "lineshaft").mkdir(mode=0o700)
    data = old.read_bytes()
    (tmp_path / "lineshaft" / "store.db").write_bytes(data[: len(data) // 2])
    async with Store(key=KEY) as store:
        await begin(store, run("new"))
        assert [each.run_id for each in await store.runs()] == ["new"]
