"""One run's view: it notices what others changed, and says what it changed itself."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import FileMissing, StaleFile
from lineshaft.values import Change, Finding, Stage
from lineshaft.workspace import Folder, FolderView


@pytest.fixture
def view(tmp_path: Path) -> FolderView:
    return Folder(tmp_path).begin()


async def test_a_file_that_somebody_changed_since_is_not_written(
    view: FolderView, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")
    (tmp_path / "f").write_text("theirs")

    with pytest.raises(StaleFile, match="'f' was changed from outside"):
        await view.write("f", b"mine")

    assert (tmp_path / "f").read_text() == "theirs"


async def test_reading_again_does_not_hide_the_change(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")
    (tmp_path / "f").write_text("theirs")
    await view.read("f")

    with pytest.raises(StaleFile):
        await view.write("f", b"mine")


async def test_once_told_a_run_may_look_again_and_write(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")
    (tmp_path / "f").write_text("theirs")
    for _ in range(2):
        with pytest.raises(StaleFile):
            await view.write("f", b"mine")

    await view.read("f")
    await view.write("f", b"mine")

    assert (tmp_path / "f").read_text() == "mine"


async def test_a_file_that_somebody_created_or_deleted_since_is_not_written(
    view: FolderView, tmp_path: Path
) -> None:
    for look in (view.read, view.stat):
        with pytest.raises(FileMissing):
            await look(f"{look.__name__}-new")
        (tmp_path / f"{look.__name__}-new").write_text("theirs")
        with pytest.raises(StaleFile, match="was created from outside"):
            await view.write(f"{look.__name__}-new", b"mine")
    (tmp_path / "old").write_text("old")
    await view.read("old")
    (tmp_path / "old").unlink()
    with pytest.raises(StaleFile, match="was deleted from outside"):
        await view.write("old", b"mine")

    assert not (tmp_path / "old").exists()


async def test_a_stale_file_is_neither_moved_nor_deleted(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")
    (tmp_path / "f").write_text("theirs")

    with pytest.raises(StaleFile):
        await view.delete("f")
    with pytest.raises(StaleFile):
        await view.move("f", "g")


async def test_own_writes_are_not_stale(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    await view.read("f")

    await view.write("f", b"one")
    await view.write("f", b"two")
    await view.move("f", "g")
    await view.write("g", b"three")
    await view.write("f", b"four")
    await view.delete("g")

    assert (tmp_path / "f").read_text() == "four"


async def test_a_write_after_an_own_write_notices_somebody_else(
    view: FolderView, tmp_path: Path
) -> None:
    await view.write("f", b"mine")
    (tmp_path / "f").write_text("theirs")

    with pytest.raises(StaleFile):
        await view.write("f", b"mine again")


async def test_another_view_and_the_folder_itself_remember_nothing_of_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "f").write_text("old")
    await folder.begin().read("f")
    await folder.read("f")
    (tmp_path / "f").write_text("theirs")

    await folder.begin().write("f", b"a")
    await folder.write("f", b"b")

    assert (tmp_path / "f").read_text() == "b"


async def test_changes_are_the_net_effect_in_order_of_first_change(
    view: FolderView, tmp_path: Path
) -> None:
    for name in ("edited", "gone", "moved", "same"):
        (tmp_path / name).write_text("1\n2\n3\n")

    await view.write("edited", b"1\ntwo\n3\n")
    await view.write("new", b"a\n")
    await view.delete("gone")
    await view.write("fleeting", b"x")
    await view.delete("fleeting")
    await view.move("moved", "d/there")
    await view.write("d/there", b"1\n2\n3\n4\n")
    await view.write("edited", b"1\ntwo\n3\nfour\n")
    await view.write("same", b"other\n")
    await view.write("same", b"1\n2\n3\n")

    changes = [(c.path, c.kind, c.moved_from, c.added, c.removed) for c in await view.changes()]
    assert changes == [
        ("edited", "modified", None, 2, 1),
        ("new", "created", None, 1, 0),
        ("gone", "deleted", None, 0, 3),
        ("d/there", "moved", "moved", 1, 0),
    ]
    assert not any(change.undoable for change in await view.changes())


async def test_every_file_of_a_moved_folder_is_reported(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "f").write_text("x")
    await view.write("d/new", b"y")

    change = await view.move("d", "to")

    assert (change.path, change.kind, change.moved_from) == ("to", "moved", "d")
    changes = {(c.path, c.kind, c.moved_from) for c in await view.changes()}
    assert changes == {("to/e/f", "moved", "d/e/f"), ("to/new", "created", None)}
    await view.write("to/e/f", b"x\n2")
    await view.move("to", "d")
    assert {(c.path, c.kind) for c in await view.changes()} == {
        ("d/new", "created"),
        ("d/e/f", "modified"),
    }


async def test_a_file_is_known_by_its_one_name(view: FolderView, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    (tmp_path / "link").symlink_to("f")
    await view.read("link")

    await view.write("@project/link", b"new")

    assert [change.path for change in await view.changes()] == ["f"]


async def test_guards_may_only_warn_about_what_is_on_the_disk_already(view: FolderView) -> None:
    seen: list[str] = []

    def guard(changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        assert stage.landed == 0
        seen.extend(change.path for change in changes)
        return [
            Finding(code="merge-marker", message="a merge marker", level="error", path="f"),
            Finding(code="long", message="a long file", level="info", path="f"),
        ]

    await view.write("f", b"<<<<<<<")
    findings = await view.land([guard])

    assert seen == ["f"]
    assert [(finding.code, finding.level) for finding in findings] == [
        ("merge-marker", "warning"),
        ("long", "info"),
    ]
    await view.discard()
    assert [change.path for change in await view.changes()] == ["f"]
