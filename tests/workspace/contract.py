"""What every workspace does alike: a folder, one that an editor shows, one far away; direct,
staged, a layer.

Imported by the tests of each, which give the fixtures `root` (the folder of its files), `view` and
`waits` (whether changes of the view wait until they land).
"""

from pathlib import Path

import pytest

from lineshaft.errors import (
    FileMissing,
    OutsideWorkspace,
    PreconditionFailed,
    StaleFile,
    WorkspaceError,
)
from lineshaft.values import READ_TOGETHER, Content, Stage


async def paths(view: Stage, root: str = ".") -> list[str]:
    return [entry.path async for entry in view.walk(root)]


async def test_a_file_is_read_as_it_was_written(view: Stage) -> None:
    change = await view.write("a/b.txt", b"text")
    assert (change.path, change.kind) == ("a/b.txt", "created")
    content = await view.read("./a/../a/b.txt")
    assert (content.data, content.sha256) == (b"text", change.sha256)
    entry = await view.stat("a/b.txt")
    assert (entry.kind, entry.size) == ("file", 4)
    assert await paths(view) == ["a", "a/b.txt"]
    assert (await view.stat("a")).kind == "folder"


async def test_a_change_keeps_what_it_may_not_touch(view: Stage, root: Path) -> None:
    (root / "f").write_text("first")
    content = await view.read("f")
    for if_match in ("0" * 64, content.sha256[::-1]):
        with pytest.raises(PreconditionFailed):
            await view.write("f", b"second", if_match=if_match)
    change = await view.write("f", b"second", if_match=content.sha256)
    assert change.kind == "modified"
    with pytest.raises(PreconditionFailed):
        await view.write("f", b"third", if_match=content.sha256)
    assert (await view.read("f")).data == b"second"


async def test_what_is_not_there_is_missing(view: Stage) -> None:
    for act in (view.read("x"), view.stat("x"), view.delete("x"), view.move("x", "y")):
        with pytest.raises(FileMissing):
            await act


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "@none/x", "x\0"])
async def test_nothing_leads_out(view: Stage, path: str) -> None:
    for act in (view.read(path), view.write(path, b""), view.stat(path), view.delete(path)):
        with pytest.raises(OutsideWorkspace):
            await act


async def test_a_file_moves_and_overwrites_nothing(view: Stage, root: Path) -> None:
    (root / "f").write_text("f")
    (root / "g").write_text("g")
    with pytest.raises(PreconditionFailed):
        await view.move("f", "g")
    change = await view.move("f", "new/h")
    assert (change.kind, change.moved_from) == ("moved", "f")
    assert await paths(view) == ["g", "new", "new/h"]
    assert (await view.read("new/h")).data == b"f"


async def test_files_and_empty_folders_go(view: Stage, root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "f").write_text("f")
    with pytest.raises(WorkspaceError):
        await view.delete("d")
    assert (await view.delete("d/f")).kind == "deleted"
    await view.delete("d")
    assert await paths(view) == []


async def test_many_files_are_read_in_order_each_with_its_own_end(view: Stage, root: Path) -> None:
    (root / "f").write_text("first")
    await view.write("g", b"second")
    found = await view.read_many(["f", "none", "g", "../out"])
    assert [each.data if isinstance(each, Content) else each.code for each in found] == [
        b"first",
        FileMissing.code,
        b"second",
        OutsideWorkspace.code,
    ]
    assert await view.read_many([]) == []
    (root / "f").write_text("theirs")
    with pytest.raises(StaleFile):
        await view.write("f", b"mine")


async def test_contents_of_many_files_are_bounded_together(view: Stage, root: Path) -> None:
    for name in "abc":
        (root / name).write_bytes(b"x" * (READ_TOGETHER // 2 + 1))
    assert len(await view.read_many(["a", "b", "c"])) == 2
    assert len(await view.read_many(["c"])) == 1


async def test_what_another_program_changed_since_it_was_read_is_not_overwritten(
    view: Stage, root: Path
) -> None:
    (root / "f").write_text("first")
    await view.read("f")
    (root / "f").write_text("theirs")
    with pytest.raises(StaleFile):
        await view.write("f", b"mine")
    assert (await view.read("f")).data == b"theirs"
    await view.write("f", b"mine")
    assert (await view.read("f")).data == b"mine"


async def test_a_look_at_the_form_alone_is_no_reading(view: Stage, root: Path) -> None:
    (root / "f").write_text("first")
    assert (await view.read("f", noted=False)).data == b"first"
    (root / "f").write_text("theirs")
    await view.write("f", b"mine")
    assert (await view.read("f")).data == b"mine"


async def test_its_changes_are_told_and_on_the_disk_at_last(
    view: Stage, root: Path, waits: bool
) -> None:
    (root / "f").write_text("first\n")
    await view.write("f", b"second\n")
    await view.write("g", b"new\n")
    told = {
        change.path: (change.kind, change.added, change.removed) for change in await view.changes()
    }
    assert told == {"f": ("modified", 1, 1), "g": ("created", 1, 0)}
    await view.land()
    assert ((root / "f").read_text(), (root / "g").read_text()) == ("second\n", "new\n")
    assert view.landed == (1 if waits else 0)
