"""Stores of earlier versions open with all that is in them."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lineshaft.errors import StateError
from lineshaft.store import Store
from lineshaft.store._migrate import STEPS, Step, migrate
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


def _more(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE runs ADD COLUMN mood TEXT DEFAULT 'fine'")


def _fails(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE runs ADD COLUMN mood TEXT")
    connection.execute("SELECT mood FROM nowhere")


def steps(old: Path, taken: Sequence[Step]) -> None:
    """Bring a file to a version that has more steps."""
    with closing(sqlite3.connect(old, isolation_level=None)) as connection, connection:
        connection.execute("BEGIN")
        migrate(connection, "store.db", taken)


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


def test_an_older_store_has_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    steps(old, STEPS)
    new = tmp_path / "new.db"
    steps(new, STEPS)
    assert columns(old) == columns(new)


def columns(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' ORDER BY 1, 2"
        ).fetchall()
