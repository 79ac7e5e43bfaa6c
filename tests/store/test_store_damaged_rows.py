"""Values that another program put into columns of the store: said for their run, and for no other.

SQLite takes a value of any kind in any column, and only some columns are signed.
"""

import json
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import pytest

from lineshaft.errors import LineshaftError, RecordError, StateError, UntrustedState
from lineshaft.store import Store
from lineshaft.trace import summarise
from lineshaft.values import ObservedShape, Value
from store.samples import KEY, Open, begin, call, finished, pause, run, sink, started

SCRIBBLES = {
    "text": "'zz'",
    "bytes": "x'ff00fe'",
    "huge": "9223372036854775807",
    "negative": "-5",
    "endless": "9e999",
    "half a list": "'[\"a\"'",
    "no list of names": "'[1]'",
    "deep": "'" + "[" * 3_000 + "'",
    "no text": "CAST(x'ff41' AS TEXT)",
}


def scribble(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def keep(store: Store) -> None:
    """Keep a run that waits, one that is over, and one that nobody touches."""
    for run_id in ("waits", "over", "whole"):
        record = sink(store, "/w")
        record(started(run_id))
        state = await begin(store, run(run_id))
        await state.finished(call(1), Value(1))
        if run_id == "waits":
            await state.paused(pause("c2"))
        else:
            record(finished(2, run_id))
            await state.over(replayable=True, end={"value": 1})
    await store.aclose()


def ways(store: Store, run_id: str) -> list[Callable[[], Awaitable[object]]]:
    """Return the ways to read a run, and then those that act on it."""

    async def told() -> object:
        return summarise(await store.events(run_id)).json()

    return [
        told,
        lambda: store.summary(run_id),
        lambda: store.load(run_id),
        lambda: store.take(run_id),
        store.prune,
    ]


async def check(path: Path) -> None:
    """See that other runs are read, and that errors about the two damaged ones are clear."""
    async with Store(path, key=KEY) as store:
        listed = await store.runs()
        json.dumps([asdict(each) for each in listed])
        assert "success" in {each.status for each in listed if each.run_id == "whole"}
        assert await store.find("whole") == "whole"
        assert len(await store.events("whole")) == 2
        assert (await store.load("whole")).end == {"value": 1}
        for run_id in ("waits", "over"):
            for way in ways(store, run_id):
                try:
                    await way()
                except LineshaftError as error:
                    assert "failed: " not in error.message  # noqa: PT017  some ways work
        assert (await store.summary("whole")).status == "success"


@pytest.mark.parametrize("value", SCRIBBLES.values(), ids=SCRIBBLES)
async def test_a_column_with_a_value_of_another_kind_stops_no_other_run(
    store: Store, path: Path, tmp_path: Path, value: str
) -> None:
    await keep(store)
    tables = {
        "runs": ("id", "status name code engine origin waiting started_at last_at expires_at"),
        "log": ("run", "at call_id event_seq shown kind"),
        "blobs": ("run", "sha256 data"),
    }
    numbers = "duration_ms event_seq lease_no lease_until owner_pid owner_mark exact_bytes"
    for table, (key, names) in tables.items():
        more = numbers if table == "runs" else ""
        for name in (*names.split(), *more.split()):
            copy = tmp_path / f"{table}-{name}.db"
            shutil.copy(path, copy)
            scribble(copy, f"UPDATE {table} SET {name} = {value} WHERE {key} != 'whole'")  # noqa: S608  names of our own
            await check(copy)


@pytest.mark.parametrize("name", ["duration_ms", "event_seq", "waiting", "started_at"])
async def test_a_run_with_a_damaged_row_is_listed_and_named(
    store: Store, open_store: Open, path: Path, name: str
) -> None:
    await keep(store)
    scribble(path, f"UPDATE runs SET {name} = x'ff' WHERE id = 'waits'")  # noqa: S608  names of our own
    other = open_store()
    listed = {each.run_id: each.status for each in await other.runs()}
    assert listed == {"waits": "damaged", "over": "success", "whole": "success"}
    for way in (other.summary, other.load, other.take, other.events):
        with pytest.raises(UntrustedState, match="run waits cannot be read") as caught:
            await way("waits")
        assert "lineshaft undo" in caught.value.hint
    assert await other.forget(["waits"]) == 1
    with pytest.raises(StateError, match="no run 'waits'"):
        await other.summary("waits")


@pytest.mark.parametrize(
    "damage", ["at = 'zz'", "call_id = x'ff'", "event_seq = 'zz'", "shown = '[[\"log\", 5]]'"]
)
async def test_an_event_with_a_damaged_column_is_said(
    store: Store, open_store: Open, path: Path, damage: str
) -> None:
    await keep(store)
    scribble(path, f"UPDATE log SET {damage} WHERE run = 'over' AND seq = 1")  # noqa: S608  texts of our own
    with pytest.raises(RecordError, match="of run 'over' is damaged"):
        await open_store().events("over")


async def test_a_damaged_shape_is_left_out_and_begun_anew(
    store: Store, open_store: Open, path: Path
) -> None:
    def seen(count: int) -> ObservedShape:
        return ObservedShape(tool="far.find", version="1", schema={"type": "string"}, count=count)

    store.observe("/w", seen(3), lambda _, new: new)
    await store.aclose()
    scribble(path, "UPDATE shapes SET results = 'zz'")
    other = open_store()
    assert await other.shapes("/w") == []
    other.observe("/w", seen(2), lambda _, new: new)
    await other.flush()
    assert [each.count for each in await other.shapes("/w")] == [2]


async def test_tables_of_a_version_that_never_was_are_damage(
    store: Store, open_store: Open, path: Path
) -> None:
    await keep(store)
    scribble(path, "UPDATE meta SET version = -5")
    with pytest.raises(StateError, match="is damaged"):
        await open_store().runs()
