"""Stores of earlier versions open with all that is in them."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.store._migrate import STEPS, Step, migrate
from lineshaft.store._tables import METADATA
from lineshaft.values import Value
from store.samples import Open, call

VERSION_1 = Path(__file__).parent / "version_1.sql"
"""A store as version 1 made it, with a run of each kind."""


@pytest.fixture
def old(path: Path) -> Path:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    return path


async def test_a_store_of_version_1_is_whole(old: Path, open_old: Store) -> None:
    listed = {each.run_id: each.status for each in await open_old.runs()}
    assert listed == {"over": "success", "waits": "paused"}
    assert [each.kind for each in await open_old.events("over")] == ["run_started", "run_finished"]
    over = await open_old.saved("over")
    assert over.run.document == {"script": "1", "inputs": {"ü": [1, 2.5, None]}}
    assert [(each.call, each.done) for each in over.finished] == [(call(1), Value({"n": 1}))]
    assert over.end == {"value": 3}
    waits, state = await open_old.resume("waits")
    assert waits.pause is not None
    assert waits.pause.blobs == {"snapshot": b"one" * 5_000}
    assert [each.id for each in waits.pause.pending] == ["c2"]
    assert waits.unknown == (call(1),)
    await state.over(replayable=False)
    assert old.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def open_old(old: Path, open_store: Open) -> Store:
    assert old.exists()
    return open_store()


def _more(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE runs ADD COLUMN mood TEXT DEFAULT 'fine'"))


def _fails(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE runs ADD COLUMN mood TEXT"))
    connection.execute(text("SELECT nothing FROM nowhere"))


def steps(old: Path, taken: Sequence[Step]) -> None:
    """Bring a file to a version that has more steps."""
    engine = create_engine(f"sqlite:///{old}")
    with closing(engine.raw_connection()) as raw:
        raw.commit()
    with engine.begin() as connection:
        connection.exec_driver_sql("BEGIN")
        migrate(connection, "store.db", taken)
    engine.dispose()


def test_a_step_changes_the_tables_and_leaves_what_is_in_them(old: Path) -> None:
    steps(old, [*STEPS, _more])
    with closing(sqlite3.connect(old)) as connection:
        moods = connection.execute("SELECT run_id, mood FROM runs ORDER BY run_id").fetchall()
        version = connection.execute("SELECT version FROM lineshaft_schema").fetchall()
    assert moods == [("over", "fine"), ("waits", "fine")]
    assert version == [(len(STEPS) + 1,)]


def test_a_step_that_fails_leaves_the_store_as_it_was(old: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(old, copy)
    with pytest.raises(Exception, match="nowhere"):
        steps(copy, [*STEPS, _fails])
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT version FROM lineshaft_schema").fetchall() == [(1,)]
        columns = connection.execute("SELECT name FROM pragma_table_info('runs')").fetchall()
    assert ("mood",) not in columns


def test_a_store_with_more_steps_than_are_known_is_refused(old: Path) -> None:
    steps(old, [*STEPS, _more])
    with pytest.raises(StateError, match="made by a newer version"):
        steps(old, STEPS)


def test_the_tables_of_the_last_step_are_those_that_the_code_reads(old: Path) -> None:
    steps(old, STEPS)
    engine = create_engine(f"sqlite:///{old}")
    found = {
        name: sorted(str(column["name"]) for column in inspect(engine).get_columns(name))
        for name in inspect(engine).get_table_names()
    }
    engine.dispose()
    assert found == {t.name: sorted(c.name for c in t.columns) for t in METADATA.sorted_tables}


def test_a_shared_database_could_hold_the_tables_too() -> None:
    dialect = postgresql.dialect()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  not typed there
    made = [str(CreateTable(table).compile(dialect=dialect)) for table in METADATA.sorted_tables]
    assert any("BYTEA" in statement for statement in made)
