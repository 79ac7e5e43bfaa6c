"""A folder that an editor shows: what is not saved counts, and contents land through the editor."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, StaleFile, WindowRefused, WorkspaceError
from lineshaft.values import Change, Finding, Stage
from lineshaft.workspace import Folder, FolderView, Unsaved
from workspace.desk import Desk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "f").write_text("saved")
    return root


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def folder(root: Path, tmp_path: Path, desk: Desk) -> Folder:
    return Folder(root, journals=tmp_path / "journals", editor=desk)


@pytest.fixture
def view(folder: Folder) -> FolderView:
    return folder.begin("run", atomic=True)


async def test_what_is_not_saved_is_read_and_edited_over(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    desk.open[str(root / "f")] = b"typed"
    assert (await view.read("f")).data == b"typed"
    assert [file.path for file in await view.kept_back()] == ["f"]
    await view.write("f", b"typed and written")
    assert "-typed\n" in await view.diff()
    await view.land()
    assert ((root / "f").read_text(), desk.open) == ("typed and written", {})
    undone = await folder.undo("run")
    assert [change.path for change in undone] == ["f"]
    assert (root / "f").read_text() == "typed"


async def test_what_the_run_has_not_read_is_not_overwritten(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.open[str(root / "f")] = b"typed"
    with pytest.raises(StaleFile, match="'f' has changes in the editor that are not saved"):
        await view.write("f", b"mine")
    assert (await view.read("f")).data == b"typed"
    await view.write("f", b"mine")
    desk.open[str(root / "f")] = b"typed on"
    with pytest.raises(StaleFile, match="'f'"):
        await view.land()
    assert desk.open == {str(root / "f"): b"typed on"}
    assert (root / "f").read_text() == "saved"


@pytest.mark.parametrize("read", [True, False])
async def test_what_is_typed_after_the_run_wrote_is_stale(
    view: FolderView, root: Path, desk: Desk, read: bool
) -> None:
    if read:
        await view.read("f")
    await view.write("f", b"mine")
    desk.open[str(root / "f")] = b"typed"
    with pytest.raises(StaleFile, match="'f'"):
        await view.land()
    assert (root / "f").read_text() == "saved"


async def test_a_file_that_only_was_read_is_stale_too(
    view: FolderView, root: Path, desk: Desk
) -> None:
    await view.read("f")
    await view.write("g", b"made of f")
    desk.open[str(root / "f")] = b"typed"
    with pytest.raises(StaleFile, match="'f'"):
        await view.land()
    assert not (root / "g").exists()


async def test_what_is_not_saved_neither_moves_nor_goes(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.open[str(root / "f")] = b"typed"
    await view.read("f")
    for act in (view.delete("f"), view.move("f", "g")):
        with pytest.raises(WorkspaceError, match="neither moved nor deleted"):
            await act


async def test_a_deletion_does_not_land_over_what_is_not_saved(
    view: FolderView, root: Path, desk: Desk
) -> None:
    await view.delete("f")
    desk.open[str(root / "f")] = b"saved"  # the same, and still not saved
    with pytest.raises(StaleFile, match="nothing landed"):
        await view.land()
    assert (root / "f").read_text() == "saved"


async def test_what_nobody_can_tell_the_bytes_of_is_refused(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.open[str(root / "f")] = None
    with pytest.raises(WorkspaceError, match="its encoding or its line ends"):
        await view.read("f")
    with pytest.raises(WorkspaceError, match="its encoding or its line ends"):
        await view.write("f", b"mine")


async def test_folders_moves_and_modes_land_beside_the_editor(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    (root / "old").write_text("moves")
    await view.write("new/inner/g", b"new")
    await view.write("f", b"other")
    await view.write("x.sh", b"#!/bin/sh\n", mode=0o755)
    await view.move("old", "moved")
    findings = await view.land()
    assert findings == ()
    assert sorted(desk.edits) == ["f", "new/inner/g"]
    assert {path.name for path in root.iterdir()} == {"f", "new", "x.sh", "moved"}
    await folder.undo("run")
    assert {path.name: path.read_text() for path in root.iterdir()} == {
        "f": "saved",
        "old": "moves",
    }


async def test_formatting_on_save_is_what_the_run_left(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    desk.formats = True
    await view.write("f", b"one")
    findings = await view.land()
    assert [(each.code, each.path) for each in findings] == [("formatted-on-save", "f")]
    (change,) = await view.changes()
    assert change.sha256 == Unsaved(b"one\n").sha256
    await view.write("f", b"two")  # the run knows what it left
    await view.land()
    assert (root / "f").read_text() == "two\n"
    again = folder.begin("run", atomic=True, packed=b"")
    assert {each.path for each in await again.changes()} == {"f"}
    assert [each.path for each in await folder.undo("run")] == ["f"]
    assert (root / "f").read_text() == "saved"


async def test_a_landing_stands_where_what_saving_made_of_it_cannot_be_noted(
    view: FolderView, root: Path, desk: Desk, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path, _target: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    desk.formats = True
    await view.write("f", b"one")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        await view.land()
    assert (root / "f").read_text() == "one\n"
    assert [each.path for each in await folder.undo("run")] == ["f"]
    assert (root / "f").read_text() == "saved"


async def test_what_the_editor_does_not_undo_is_said(view: FolderView) -> None:
    await view.write("a.bin", b"\0")
    assert [each.code for each in await view.land()] == ["no-undo-in-editor"]


@pytest.mark.parametrize("forgotten", ["f", "new"])
@pytest.mark.parametrize("typed", [None, b"typed"])
async def test_an_editor_that_says_it_changed_a_file_and_did_not_is_not_believed(
    view: FolderView, root: Path, desk: Desk, forgotten: str, typed: bytes | None
) -> None:
    desk.forgets = forgotten
    if typed is not None:
        desk.open[str(root / "f")] = typed
    await view.read("f")
    await view.write("f", b"mine")
    await view.write("new", b"new")
    await view.write("sub/g", b"g")
    with pytest.raises(WorkspaceError, match=f"changed '{forgotten}', and the file is as it was"):
        await view.land()
    assert not (root / "new").exists()
    assert not (root / "sub").exists()
    kept = typed if typed is not None and forgotten == "new" else b"saved"
    assert (root / "f").read_bytes() == kept


async def test_an_editor_that_refuses_leaves_nothing_landed(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.refuses = True
    await view.write("f", b"one")
    await view.write("new/g", b"two")
    (root / "h").touch()
    await view.delete("h")
    with pytest.raises(StaleFile, match="could not edit"):
        await view.land()
    assert {path.name for path in root.iterdir()} == {"f", "h"}
    assert (root / "f").read_text() == "saved"
    desk.refuses = False
    await view.land()
    assert {path.name for path in root.iterdir()} == {"f", "new"}


async def test_what_a_person_undid_counts_as_undone(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    for name in "fgh":
        (root / name).write_text("saved")
        await view.write(name, b"mine")
    await view.land()
    desk.open[str(root / "f")] = b"saved"  # by an undo, not saved
    (root / "g").write_text("saved")
    undone = await folder.undo("run")
    assert [change.path for change in undone] == ["h"]
    assert sorted(undone.already) == ["f", "g"]
    assert {path.read_text() for path in root.iterdir()} == {"saved"}
    assert desk.open == {}


async def test_what_a_person_types_on_top_is_not_undone(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    await view.write("f", b"mine")
    await view.land()
    desk.open[str(root / "f")] = b"mine, and more"
    with pytest.raises(StaleFile, match="changed since run 'run' landed: 'f'"):
        await folder.undo("run")
    assert (root / "f").read_text() == "mine"


async def test_large_contents_go_to_the_disk(view: FolderView, root: Path, desk: Desk) -> None:
    large = b"x" * 6_000_000
    await view.write("f", large)
    await view.land()
    assert ((root / "f").read_bytes(), desk.edits) == (large, [])


def test_changes_in_an_editor_wait_until_they_land(folder: Folder) -> None:
    with pytest.raises(ConfigError, match="land together"):
        folder.begin("run")


async def test_the_person_is_asked_before_a_landing_and_before_a_process(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    await view.consult()
    assert desk.asked == []  # nothing lands
    await view.consult("pytest")
    await view.write("f", b"mine")
    layer = view.layer("c1")
    await layer.write("g", b"mine")
    await layer.consult()
    desk.says_no = True
    with pytest.raises(WindowRefused, match="unsaved are f"):
        await view.consult("ls")
    assert desk.asked == [((), "pytest"), (("f", "g"), ""), (("f",), "ls")]
    assert (root / "f").read_text() == "saved"
    copy = await view.fork()
    await copy.consult("ls")
    assert len(desk.asked) == 3  # a copy never lands
    plain = Folder(root).begin("other", atomic=False)
    assert await plain.consult("ls") == ()


async def reviewed(view: Stage) -> list[tuple[str | None, str]]:
    """Have the person look and what they keep land; return what is told."""
    found = [*await view.consult(), *await view.land()]
    return [(each.path, each.message) for each in found if each.code == "dropped-in-review"]


async def test_a_person_keeps_some_changes_and_drops_others(
    view: FolderView, root: Path, desk: Desk, folder: Folder
) -> None:
    desk.reviews, desk.drops = True, {"f": "it is right as it is", "new/g": "", "b": ""}
    (root / "a").write_text("moved")
    (root / "old").write_text("goes")
    await view.write("f", b"mine")
    await view.write("new/g", b"new")
    await view.write("h", b"kept")
    await view.move("a", "b")
    await view.delete("old")
    assert await reviewed(view) == [
        ("f", "a person dropped this change before it landed: it is right as it is"),
        ("new/g", "a person dropped this change before it landed, without a reason"),
        ("b", "a person dropped this change before it landed, without a reason"),
    ]
    shown = {each.path: each for each in desk.shown[0]}
    assert (shown["f"].before, shown["f"].after) == (b"saved", b"mine")
    assert (shown["b"].moved_from, shown["b"].before, shown["b"].after) == ("a", b"moved", b"moved")
    assert (shown["old"].kind, shown["old"].before, shown["old"].after) == (
        "deleted",
        b"goes",
        None,
    )
    assert sorted(path.name for path in root.iterdir()) == ["a", "f", "h"]
    assert ((root / "f").read_text(), (root / "h").read_text()) == ("saved", "kept")
    assert [change.path for change in await view.changes()] == ["h", "old"]
    assert (await view.read("f")).data == b"saved"
    await view.write("f", b"again")  # what was dropped is known as it is now
    desk.drops = {}
    assert await reviewed(view) == []
    assert (root / "f").read_text() == "again"
    assert sorted(change.path for change in await folder.undo("run")) == ["f", "h", "old"]
    assert (root / "f").read_text() == "saved"


async def test_where_all_is_dropped_nothing_lands(view: FolderView, root: Path, desk: Desk) -> None:
    desk.reviews, desk.drops = True, {"f": "no", "d/e/g": "no"}
    await view.write("f", b"mine")
    await view.write("d/e/g", b"new")
    assert [path for path, _ in await reviewed(view)] == ["f", "d/e/g"]
    assert (view.landed, await view.changes(), desk.edits) == (0, (), [])
    assert [path.name for path in root.iterdir()] == ["f"]


async def test_what_is_changed_while_the_person_looks_is_shown_too(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.reviews, desk.drops = True, {"late": "no"}
    await view.write("f", b"mine")
    desk.meanwhile = lambda: view.write("late", b"unseen")
    assert [path for path, _ in await reviewed(view)] == ["late"]
    assert [[each.path for each in shown] for shown in desk.shown] == [["f"], ["late"]]
    assert [path.name for path in root.iterdir()] == ["f"]


async def test_guards_look_at_what_is_kept(view: FolderView, root: Path, desk: Desk) -> None:
    desk.reviews, desk.drops = True, {"f": "no"}
    asked: list[list[str]] = []

    def guard(changes: Sequence[Change], stage: object) -> list[Finding]:
        del stage
        asked.append([change.path for change in changes])
        return []

    await view.write("f", b"mine")
    await view.write("g", b"mine")
    await view.consult()
    await view.land([guard])
    assert asked == [["g"]]
    assert (root / "f").read_text() == "saved"


async def test_a_drop_that_contradicts_what_is_kept_lands_nothing(
    view: FolderView, root: Path, desk: Desk
) -> None:
    (root / "d").mkdir()
    (root / "d" / "in").write_text("in")
    desk.reviews, desk.drops = True, {"d/in": "stays"}
    await view.delete("d/in")
    await view.delete("d")
    await view.write("d", b"a file now")
    with pytest.raises(WorkspaceError, match="cannot be dropped while that of 'd' is kept"):
        await view.consult()
    assert (root / "d" / "in").read_text() == "in"


async def test_a_drop_reaches_through_layers(view: FolderView, root: Path, desk: Desk) -> None:
    desk.reviews, desk.drops = True, {"f": "no", "g": "no"}
    await view.write("f", b"below")
    layer = view.layer("c1")
    await layer.write("f", b"above")
    await layer.write("g", b"above")
    await layer.write("h", b"kept")
    assert [path for path, _ in await reviewed(layer)] == ["f", "g"]
    assert (root / "f").read_text() == "saved"
    assert sorted(path.name for path in root.iterdir()) == ["f", "h"]


async def test_what_is_changed_after_the_person_looked_is_shown_before_it_lands(
    view: FolderView, root: Path, desk: Desk
) -> None:
    desk.reviews, desk.drops = True, {"late": "no"}
    await view.write("f", b"mine")
    await view.consult()
    await view.write("late", b"unseen")
    found = await view.land()
    assert [each.path for each in found] == ["late"]
    assert [path.name for path in root.iterdir()] == ["f"]


async def test_a_link_and_a_mode_are_shown_and_shown_again_where_they_change(
    view: FolderView, root: Path, desk: Desk
) -> None:
    (root / "secret").write_text("not to be shown")
    desk.reviews = True
    await view.write("tool", b"#!/bin/sh\n", mode=0o644)
    await view.link("l", "secret")

    async def other() -> None:
        await view.write("tool", b"#!/bin/sh\n", mode=0o755)
        await view.delete("l")
        await view.link("l", "tool")

    desk.meanwhile = other
    assert await reviewed(view) == []
    first, second = ({each.path: each for each in shown} for shown in desk.shown)
    assert (first["l"].after, "symlink to 'secret'" in first["l"].note) == (None, True)
    assert "symlink to 'tool'" in second["l"].note
    assert (first["tool"].note, second["tool"].note) == ("mode 644", "mode 755")
    assert (root / "l").readlink() == Path("tool")


async def test_a_mode_that_stays_is_not_shown(view: FolderView, root: Path, desk: Desk) -> None:
    for name in ("edited", "moved", "made"):
        (root / name).write_text("a\n")
        (root / name).chmod(0o755 if name == "moved" else 0o644)
    desk.reviews = True
    await view.write("edited", b"b\n", mode=0o644)
    await view.move("moved", "elsewhere")
    await view.write("made", b"c\n", mode=0o755)
    assert await reviewed(view) == []
    (shown,) = desk.shown
    assert {each.path: each.note for each in shown} == {
        "edited": "",
        "elsewhere": "",
        "made": "mode 755",
    }


async def test_the_mode_of_a_file_in_the_place_of_a_folder_is_shown(
    view: FolderView, root: Path, desk: Desk
) -> None:
    (root / "d").mkdir(mode=0o755)
    desk.reviews = True
    await view.delete("d")
    await view.write("d", b"#!/bin/sh\n", mode=0o755)
    await reviewed(view)
    assert [(each.path, each.note) for each in desk.shown[0]] == [("d", "mode 755")]
