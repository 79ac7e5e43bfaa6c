"""Layers: views over a view, whose changes stay apart until they are merged."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import Guarded, LineshaftError, StaleFile
from lineshaft.values import Change, Command, Finding, Stage, Workspace
from lineshaft.workspace import Folder
from workspace.distant import STAGES

ON_DISK = pytest.mark.parametrize("folder", ["folder"], indirect=True)
"""Tests of what a workspace far away lacks: commands, undo, a memory of landings."""


@pytest.fixture(params=STAGES)
def folder(request: pytest.FixtureRequest, root: Path) -> Workspace:
    """Return a workspace over it that keeps changes back: on the disk, or far away."""
    return STAGES[request.param](root)


def on_disk(root: Path) -> dict[str, str | None]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


async def seen_by(view: Workspace) -> dict[str, str | None]:
    found = {entry.path: entry.kind async for entry in view.walk(ignore=False)}
    return {
        path: (await view.read(path)).data.decode() if kind == "file" else None
        for path, kind in sorted(found.items())
    }


async def test_a_layer_sees_what_is_below_and_is_seen_once_it_is_merged(
    view: Stage, root: Path
) -> None:
    (root / "disk").write_text("disk")
    await view.write("below", b"below")
    layer = view.layer("a")
    await layer.write("new", b"new")
    await layer.write("below", b"over")
    assert await seen_by(layer) == {"disk": "disk", "below": "over", "new": "new"}
    assert await seen_by(view) == {"disk": "disk", "below": "below"}
    await layer.merge()
    assert await seen_by(view) == {"disk": "disk", "below": "over", "new": "new"}
    layer.drop()
    assert on_disk(root) == {"disk": "disk"}
    await view.land()
    assert on_disk(root) == {"disk": "disk", "below": "over", "new": "new"}


async def test_a_layer_that_is_dropped_leaves_nothing(view: Stage, root: Path) -> None:
    await view.write("kept", b"kept")
    layer = view.layer("a")
    await layer.move("kept", "moved")
    await layer.write("more/deep", b"x")
    layer.drop()
    assert await seen_by(view) == {"kept": "kept"}
    assert [change.path for change in await view.changes()] == ["kept"]
    await view.land()
    assert on_disk(root) == {"kept": "kept"}


async def test_a_file_that_a_sibling_has_changed_is_stale_at_the_merge_and_is_read_again(
    view: Stage, root: Path
) -> None:
    (root / "f").write_text("old")
    first, second = view.layer("1"), view.layer("2")
    await first.write("f", b"first")
    await second.write("f", b"second")
    await second.write("other", b"other")
    await first.merge()
    with pytest.raises(StaleFile, match="'f'") as error:
        await second.merge()
    assert error.value.paths == ("f",)
    assert await seen_by(view) == {"f": "first"}
    assert (await second.read("f")).data == b"first"
    await second.write("f", b"first and second")
    await second.merge()
    await view.land()
    assert on_disk(root) == {"f": "first and second", "other": "other"}


async def test_what_two_layers_change_alike_is_no_contradiction(view: Stage, root: Path) -> None:
    (root / "f").write_text("old")
    layers = [view.layer(name) for name in "123"]
    for layer in layers:
        await layer.write("f", b"new")
        await layer.write("made", b"made")
    await layers[0].merge()
    await layers[1].merge()
    await view.land()
    await layers[2].merge()
    await view.land()
    assert on_disk(root) == {"f": "new", "made": "made"}
    assert [change.path for change in await view.changes()] == ["f", "made"]


async def test_a_file_that_was_only_read_makes_no_sibling_stale(view: Stage, root: Path) -> None:
    (root / "f").write_text("old")
    layers = [view.layer(str(number)) for number in range(3)]
    for layer in layers:
        await layer.read("f")
    await layers[0].write("f", b"new")
    for number, layer in enumerate(layers):
        await layer.write(f"of-{number}", b"x")
        await layer.merge()
    await view.land()
    assert on_disk(root) == {"f": "new", "of-0": "x", "of-1": "x", "of-2": "x"}


async def test_a_file_that_a_layer_read_is_looked_at_when_all_lands(
    view: Stage, root: Path
) -> None:
    (root / "read").write_text("old")
    layer = view.layer("a")
    await layer.read("read")
    await layer.write("built", b"on it")
    await layer.merge()
    (root / "read").write_text("from outside")
    with pytest.raises(StaleFile, match="'read'"):
        await view.land()
    assert on_disk(root) == {"read": "from outside"}


async def test_a_layer_lands_with_what_it_stands_on_and_no_sibling(view: Stage, root: Path) -> None:
    (root / "f").write_text("old")
    await view.write("below", b"below")
    layer, sibling = view.layer("a"), view.layer("b")
    inner = layer.layer("inner")
    await layer.write("of-layer", b"layer")
    await inner.write("of-inner", b"inner")
    await sibling.read("f")
    await sibling.write("of-sibling", b"sibling")
    await inner.write("f", b"new")
    await inner.land()
    there = {"below": "below", "f": "new", "of-inner": "inner", "of-layer": "layer"}
    assert on_disk(root) == there
    inner.drop()
    layer.drop()
    assert {c.path for c in await view.changes() if c.stage == 1} == {*there}
    await sibling.merge()
    await view.land()
    assert on_disk(root) == {**there, "of-sibling": "sibling"}
    assert view.landed == 2


async def test_a_layer_under_which_others_landed_merges_unless_they_changed_its_files(
    view: Stage, root: Path
) -> None:
    await view.write("shared", b"v1")
    first, second, third = (view.layer(name) for name in "123")
    await second.write("shared", b"second")
    await third.write("shared", b"third")
    await first.land()  # "shared" is on the disk now, as both have seen it
    await second.merge()
    with pytest.raises(StaleFile, match="shared"):
        await third.land()
    assert on_disk(root) == {"shared": "v1"}
    third.drop()
    await view.land()
    assert on_disk(root) == {"shared": "second"}


async def test_layers_make_files_in_the_same_new_folder(view: Stage, root: Path) -> None:
    layers = [view.layer(str(number)) for number in range(3)]
    for number, layer in enumerate(layers):
        await layer.make_folder("out")
        await layer.write(f"out/deep/{number}", b"x")
    await layers[0].land()
    for layer in layers:
        await layer.merge()
    assert "out/deep/2" in await view.diff()
    await view.land()
    assert sorted(on_disk(root)) == ["out", "out/deep", "out/deep/0", "out/deep/1", "out/deep/2"]


@pytest.mark.parametrize("there", ["disk", "below"])
async def test_a_folder_is_not_deleted_over_what_a_sibling_made_in_it(
    view: Stage, root: Path, there: str
) -> None:
    if there == "disk":
        (root / "d").mkdir()
    else:
        await view.make_folder("d")
    first, second = view.layer("1"), view.layer("2")
    await first.write("d/new", b"x")
    await second.delete("d")
    await first.merge()
    with pytest.raises(StaleFile, match="d/new"):
        await second.merge()
    assert await seen_by(view) == {"d": None, "d/new": "x"}


async def test_a_file_is_not_made_in_a_folder_that_a_sibling_has_deleted(
    view: Stage, root: Path
) -> None:
    (root / "d").mkdir()
    first, second = view.layer("1"), view.layer("2")
    await first.delete("d")
    await second.write("d/new", b"x")
    await first.merge()
    with pytest.raises(StaleFile, match="d/new"):
        await second.merge()
    assert await seen_by(view) == {}


async def test_guards_of_a_merge_see_the_changes_of_the_layer(view: Stage, root: Path) -> None:
    (root / "f").write_text("disk")
    await view.write("f", b"below")
    layer = view.layer("a")
    await layer.write("f", b"over")
    seen: list[object] = []

    async def guard(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        was = await stage.before("f")
        seen.append(([c.path for c in changes], was and was.data, (await stage.read("f")).data))
        return [Finding(code="no", message="not so", level="error")]

    with pytest.raises(Guarded, match="not so"):
        await layer.merge([guard])
    with pytest.raises(Guarded, match="not so"):
        await layer.land([guard])
    assert seen == [(["f"], b"below", b"over"), (["f"], b"disk", b"over")]
    assert (await view.read("f")).data == b"below"
    assert on_disk(root) == {"f": "disk"}


@ON_DISK
async def test_layers_go_on_in_another_process(view: Stage, folder: Workspace, root: Path) -> None:
    (root / "f").write_text("old")
    await view.write("below", b"below")
    layer = view.layer("a")
    await layer.move("f", "moved")
    await layer.write("new", b"new")
    await layer.layer("inner").write("deep", b"deep")
    again = folder.begin("run", atomic=True, packed=await view.pack())
    await view.discard()
    assert await seen_by(again) == {"below": "below", "f": "old"}
    layer = again.layer("a")
    await layer.layer("inner").merge()
    await layer.merge()
    await again.land()
    assert on_disk(root) == {"below": "below", "deep": "deep", "moved": "old", "new": "new"}
    await folder.undo("run")
    assert on_disk(root) == {"f": "old"}


@ON_DISK
async def test_what_commands_of_a_layer_change_stays_when_it_is_dropped(
    view: Stage, root: Path
) -> None:
    layer = view.layer("a")
    process = await layer.run(Command(argv=("sh", "-c", "echo x > made")))
    await process.wait()
    layer.drop()
    assert [change.path for change in await view.changes()] == ["made"]
    assert on_disk(root) == {"made": "x\n"}


async def test_a_copy_of_a_layer_is_apart(view: Stage) -> None:
    layer = view.layer("a")
    await layer.write("f", b"one")
    copy = await layer.fork()
    await copy.write("f", b"two")
    assert "+two" in await copy.diff()
    await copy.discard()
    assert (await layer.read("f")).data == b"one"
    await layer.merge()
    assert (await view.read("f")).data == b"one"


NAMES = ("a", "b", "d", "d/a", "d/b", "d/e", "d/e/a")


async def act(view: Workspace, choice: random.Random) -> object:
    """Do something at random; return what came of it."""
    what, path, other = choice.choice("wwwmmdrf"), choice.choice(NAMES), choice.choice(NAMES)
    data = choice.choice((b"1", b"2", b"3"))
    try:
        match what:
            case "w":
                await view.write(path, data)
            case "m":
                await view.move(path, other)
            case "d":
                await view.delete(path)
            case "f":
                await view.make_folder(path)
            case _:
                return (await view.read(path)).data
    except LineshaftError as error:
        return error.code
    return None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
async def test_merged_layers_come_to_the_same_as_no_layers(tmp_path: Path, seed: int) -> None:
    roots = [tmp_path / "with", tmp_path / "without"]
    for root in roots:
        (root / "d").mkdir(parents=True)
        (root / "a").write_text("1")
        (root / "d" / "a").write_text("2")
    folders = [Folder(root, journals=tmp_path / f"j-{root.name}") for root in roots]
    layered, plain = (folder.begin("run", atomic=True) for folder in folders)
    choice = random.Random(seed)  # noqa: S311  no secret
    for number in range(4):
        stack: list[Stage] = [layered.layer(str(number))]
        stack.append(stack[0].layer("inner"))
        for view in (layered, *stack, stack[0]):
            for _ in range(4):
                state = choice.getstate()
                left = await act(view, choice)
                choice.setstate(state)
                right = await act(plain, choice)
                if right == "E_STALE" and left != right:
                    return  # one view remembers what its layers need not know
                assert left == right
            if view is not layered and choice.random() < 0.2:
                await view.land()
                await plain.land()
            if view is stack[-1]:
                await view.merge()
        await stack[0].merge()
        assert await seen_by(layered) == await seen_by(plain)
        stack[0].drop()
    for view in (layered, plain):
        told = {c.path for c in await view.changes() if c.stage > view.landed}
        there = await seen_by(view)
        files = {path for path, content in on_disk(roots[0]).items() if content is not None}
        changed = {path for path, text in there.items() if text is not None} - files
        assert changed <= told
        await view.diff()
        await view.land()
    assert on_disk(roots[0]) == on_disk(roots[1])
    for folder in folders:
        if folder.half_landed() == 0 and (layered.landed or plain.landed):
            await folder.undo("run")
    assert on_disk(roots[0]) == on_disk(roots[1]) == {"a": "1", "d": None, "d/a": "2"}


@ON_DISK
async def test_a_view_that_died_with_its_process_still_tells_what_had_landed(
    view: Stage, folder: Workspace, root: Path
) -> None:
    for name in ("moved", "gone", "edited"):
        (root / name).write_text(f"{name}\n")
    await view.write("new", b"one\ntwo\n")
    await view.move("moved", "d/there")
    await view.delete("gone")
    await view.write("edited", b"edited\nmore\n")
    await view.land()
    await view.write("second", b"x")
    await view.land()
    before = await view.changes()
    await view.write("lost", b"x")
    again = folder.begin("run", atomic=True, packed=b"")
    assert again.landed == 2
    key = [(c.stage, c.path, c.kind, c.moved_from, c.added, c.removed, c.undoable) for c in before]
    told = await again.changes()
    assert sorted(key, key=str) == sorted(
        ((c.stage, c.path, c.kind, c.moved_from, c.added, c.removed, c.undoable) for c in told),
        key=str,
    )


async def kept_back(view: Workspace) -> dict[str, str]:
    return {
        file.path: b"".join(file.parts()).decode() if file.kind == "file" else file.kind
        for file in await view.kept_back()
    }


async def test_what_is_kept_back_is_all_that_a_layer_has_and_the_disk_has_not(
    view: Stage, root: Path
) -> None:
    for name in ("same", "back", "gone", "moved"):
        (root / name).write_text(name)
    assert await view.kept_back() == ()
    await view.write("back", b"other")
    await view.write("below", b"below")
    await view.delete("gone")
    one, other = view.layer("one"), view.layer("other")
    await one.write("back", b"back")
    await one.move("moved", "new/moved")
    await one.write("same", b"same")
    await other.write("of-other", b"x")

    assert await kept_back(one) == {
        "below": "below",
        "gone": "missing",
        "moved": "missing",
        "new": "folder",
        "new/moved": "moved",
    }
    assert await kept_back(view) == {"back": "other", "below": "below", "gone": "missing"}
    (root / "moved").write_text("changed from outside")
    with pytest.raises(StaleFile):
        await kept_back(one)
    (root / "moved").write_text("moved")
    await view.land()
    assert await view.kept_back() == ()


async def test_a_folder_that_was_staged_and_deleted_again_is_no_change(view: Stage) -> None:
    await view.write("dir/f", b"f")
    await view.delete("dir/f")
    await view.delete("dir")
    await view.write("dir", b"a file")

    assert [(each.path, each.kind) for each in await view.changes()] == [("dir", "created")]
