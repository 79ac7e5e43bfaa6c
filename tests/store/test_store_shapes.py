"""What results looked like, kept for the next session."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from lineshaft.store import Store
from lineshaft.tools import infer_shape, merge_shapes
from lineshaft.values import ObservedShape
from store.samples import Clock, Open

HERE = "/folder"


def seen(
    value: object, *, tool: str = "far.find", version: str = "1", count: int = 1
) -> ObservedShape:
    return ObservedShape(tool=tool, version=version, schema=infer_shape(value), count=count)


async def test_what_sessions_saw_is_put_together(open_store: Open, clock: Clock) -> None:
    one, other = open_store(), open_store()
    one.observe(HERE, seen({"id": 1}, count=2), merge_shapes)
    await one.flush()
    other.observe(HERE, seen({"id": 1, "name": "x"}), merge_shapes)
    await other.flush()
    (found,) = await one.shapes(HERE)
    assert found.schema == merge_shapes(infer_shape({"id": 1}), infer_shape({"id": 2, "name": "y"}))
    assert (found.tool, found.version, found.count) == ("far.find", "1", 3)
    assert found.last_seen.startswith(clock().strftime("%Y-%m-%d"))


async def test_each_workspace_has_its_own(store: Store) -> None:
    store.observe(HERE, seen(1), merge_shapes)
    store.observe("/other", seen("text"), merge_shapes)
    assert [each.schema for each in await store.shapes(HERE)] == [{"type": "integer"}]
    assert [each.schema for each in await store.shapes("/other")] == [{"type": "string"}]
    assert await store.shapes("/nowhere") == []


async def test_another_version_of_a_tool_begins_anew(store: Store) -> None:
    store.observe(HERE, seen(1), merge_shapes)
    store.observe(HERE, seen("text", version="2"), merge_shapes)
    (found,) = await store.shapes(HERE)
    assert (found.version, found.schema, found.count) == ("2", {"type": "string"}, 1)


async def test_shapes_are_forgotten_by_name_or_all(store: Store) -> None:
    for tool in ("a.x", "a.y", "b.z"):
        store.observe(HERE, seen(1, tool=tool), merge_shapes)
    store.observe("/other", seen(1), merge_shapes)
    assert await store.forget_shapes(HERE, ["a.x", "c.none"]) == 1
    assert [each.tool for each in await store.shapes(HERE)] == ["a.y", "b.z"]
    assert await store.forget_shapes(HERE) == 2
    assert await store.shapes(HERE) == []
    assert len(await store.shapes("/other")) == 1


async def test_pruning_forgets_what_was_not_seen_for_long(store: Store, clock: Clock) -> None:
    store.observe(HERE, seen(1, tool="a.old"), merge_shapes)
    await store.flush()
    clock.now += timedelta(days=40)
    store.observe(HERE, seen(1, tool="a.new"), merge_shapes)
    await store.prune(days=30)
    assert [each.tool for each in await store.shapes(HERE)] == ["a.new"]


async def test_what_somebody_else_wrote_there_is_passed_over(store: Store, path: Path) -> None:
    store.observe(HERE, seen(1), merge_shapes)
    store.observe(HERE, seen(1, tool="a.b"), merge_shapes)
    await store.flush()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE shapes SET schema = '[1, {' WHERE tool = 'far.find'")
        connection.commit()
    assert [each.tool for each in await store.shapes(HERE)] == ["a.b"]
    store.observe(HERE, seen("text"), merge_shapes)
    assert len(await store.shapes(HERE)) == 2


async def test_any_name_of_a_tool_can_be_kept(store: Store) -> None:
    store.observe(HERE, seen(1, tool="x" * 300 + "\ud800\0"), merge_shapes)
    assert len(await store.shapes(HERE)) == 1
