"""A view whose changes wait: it sees them, the disk does not before they land."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.errors import (
    ConfigError,
    FileMissing,
    Guarded,
    OutsideWorkspace,
    PreconditionFailed,
    StaleFile,
    WorkspaceError,
)
from lineshaft.values import Change, Command, Finding, Stage
from lineshaft.workspace import Folder, FolderView, Mount


def is_untouched(root: Path, view: FolderView) -> bool:
    return list(root.iterdir()) == [] and view.landed == 0


def test_without_journals_nothing_can_wait(root: Path) -> None:
    folder = Folder(root)
    with pytest.raises(ConfigError, match="journal"):
        folder.begin("run", atomic=True)
    assert folder.capabilities == {"run"}


def test_with_journals_the_workspace_says_what_it_can(folder: Folder, view: FolderView) -> None:
    assert folder.capabilities == view.capabilities == {"run", "staged", "atomic", "undo"}


async def test_a_view_sees_its_changes_and_the_disk_does_not(view: FolderView, root: Path) -> None:
    await view.write("a/b", b"text")

    assert (await view.read("a/b")).data == b"text"
    assert [entry.path async for entry in view.walk()] == ["a", "a/b"]
    assert is_untouched(root, view)

    assert await view.land() == ()

    assert (root / "a" / "b").read_bytes() == b"text"
    assert view.landed == 1


async def test_a_run_that_only_reads_writes_nothing(
    view: FolderView, folder: Folder, root: Path, tmp_path: Path
) -> None:
    (root / "f").touch()
    await view.read("f")
    await view.land()
    await view.discard()
    await folder.recover()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["workspace"]
    assert view.landed == 0


async def test_changes_are_net_in_each_stage(view: FolderView, root: Path) -> None:
    (root / "old").write_bytes(b"one\n")
    await view.write("passing", b"x")
    await view.delete("passing")
    await view.move("old", "new")
    await view.land()
    await view.write("new", b"one\ntwo\n")
    await view.write("late", b"x")

    changes = [(c.path, c.kind, c.stage, c.undoable) for c in await view.changes()]
    assert changes == [
        ("new", "moved", 1, True),
        ("new", "modified", 2, False),
        ("late", "created", 2, False),
    ]


async def test_what_is_discarded_was_never_there(view: FolderView, root: Path) -> None:
    await view.write("f", b"x")
    await view.discard()
    assert await view.changes() == ()
    assert is_untouched(root, view)
    with pytest.raises(FileMissing):
        await view.read("f")


async def test_files_in_very_many_new_folders_land_and_are_undone(
    folder: Folder, view: FolderView, root: Path
) -> None:
    names = [f"{number}/inside/file" for number in range(150)]
    for name in names:
        await view.write(name, name.encode())
    await view.land()
    assert all((root / name).read_text() == name for name in names)
    await folder.undo("run")
    assert list(root.iterdir()) == []


async def test_a_file_that_was_read_and_changed_keeps_the_stage_from_landing(
    view: FolderView, root: Path
) -> None:
    (root / "read").write_text("old")
    await view.read("read")
    await view.write("other", b"built on what was read")
    (root / "read").write_text("theirs")

    with pytest.raises(StaleFile, match="'read'") as caught:
        await view.land()

    assert caught.value.paths == ("read",)
    assert sorted(path.name for path in root.iterdir()) == ["read"]


async def test_all_files_that_somebody_changed_are_named(view: FolderView, root: Path) -> None:
    for name in ("edited", "gone", "swapped"):
        (root / name).write_text("old")
        await view.write(name, b"mine")
    await view.write("made", b"mine")
    await view.write("folder/inside", b"mine")
    (root / "edited").write_text("theirs")
    (root / "gone").unlink()
    (root / "swapped").unlink()
    (root / "swapped").symlink_to("edited")
    (root / "made").write_text("theirs")
    (root / "folder").symlink_to("/tmp")  # noqa: S108  nothing is written there

    with pytest.raises(StaleFile) as caught:
        await view.land()

    assert set(caught.value.paths) >= {"edited", "gone", "swapped", "made", "folder"}
    assert (root / "edited").read_text() == "theirs"


async def test_a_file_touched_but_not_changed_is_not_stale(view: FolderView, root: Path) -> None:
    (root / "f").write_text("old")
    (root / "g").write_text("old")
    await view.read("f")
    await view.write("g", b"new")
    os.utime(root / "f", (1, 1))
    os.utime(root / "g", (1, 1))
    await view.land()
    assert (root / "g").read_text() == "new"


async def test_a_mode_that_somebody_else_set_is_kept(view: FolderView, root: Path) -> None:
    (root / "f").write_text("old")
    await view.write("f", b"new")
    (root / "f").chmod(0o600)
    await view.land()
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o600


async def test_who_is_told_may_look_again_and_land(view: FolderView, root: Path) -> None:
    (root / "f").write_text("old")
    await view.read("f")
    await view.write("f", b"mine")
    (root / "f").write_text("theirs")
    with pytest.raises(StaleFile):
        await view.land()
    with pytest.raises(StaleFile):
        await view.write("f", b"mine again")

    assert (await view.read("f")).data == b"theirs"
    await view.write("f", b"theirs and mine")
    await view.land()

    assert (root / "f").read_text() == "theirs and mine"


async def test_a_folder_that_somebody_filled_is_not_deleted(view: FolderView, root: Path) -> None:
    (root / "d").mkdir()
    await view.delete("d")
    (root / "d" / "theirs").touch()
    with pytest.raises(StaleFile, match="'d/theirs'"):
        await view.land()
    assert (root / "d" / "theirs").exists()


async def test_a_folder_that_somebody_made_too_is_no_conflict(view: FolderView, root: Path) -> None:
    await view.write("d/mine", b"x")
    (root / "d").mkdir()
    (root / "d" / "theirs").touch()
    await view.land()
    assert sorted(path.name for path in (root / "d").iterdir()) == ["mine", "theirs"]


async def test_guards_see_the_stage_and_keep_it_from_landing(view: FolderView, root: Path) -> None:
    (root / "f").write_bytes(b"before")
    seen: list[object] = []

    async def guard(changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        content = await stage.before("f")
        assert content is not None
        seen.append([(c.path, c.kind, c.stage) for c in changes])
        seen.append((content.data, (await stage.read("f")).data, await stage.before("new")))
        level = "error" if (await stage.read("f")).data == b"bad" else "info"
        return [Finding(code="look", message="looked", level=level, path="f")]

    await view.write("f", b"bad")
    await view.write("new", b"x")
    with pytest.raises(Guarded) as caught:
        await view.land([guard])
    assert [finding.code for finding in caught.value.findings if isinstance(finding, Finding)]
    assert (root / "f").read_bytes() == b"before"
    assert seen == [
        [("f", "modified", 1), ("new", "created", 1)],
        (b"before", b"bad", None),
    ]

    await view.write("f", b"good")
    findings = await view.land([guard])
    assert [finding.level for finding in findings] == ["info"]
    assert (root / "f").read_bytes() == b"good"


async def test_nobody_is_asked_where_nothing_is_to_land(view: FolderView) -> None:
    def guard(changes: Sequence[Change], stage: Stage) -> Sequence[Finding]:
        raise AssertionError((changes, stage))

    await view.write("f", b"x")
    await view.delete("f")
    assert await view.land([guard]) == ()


async def test_a_command_does_not_start_before_changes_have_landed(
    view: FolderView, root: Path
) -> None:
    await view.write("f", b"x")
    command = Command(argv=("sh", "-c", "cat f; echo more >> f; echo y > g"))
    with pytest.raises(WorkspaceError, match="not landed"):
        await view.run(command)

    await view.land()
    done = await (await view.run(command)).wait()

    assert done.stdout == "x"
    told = [(c.path, c.kind, c.stage, c.undoable) for c in await view.changes()]
    assert sorted(told) == [
        ("f", "created", 1, True),
        ("f", "modified", 0, False),
        ("g", "created", 0, False),
    ]
    await view.write("f", b"after the command, which was this run's own")
    await view.land()
    assert (root / "f").read_bytes().startswith(b"after")


async def test_symlinks_of_a_stage_lead_where_they_say_and_never_out(
    view: FolderView, root: Path
) -> None:
    await view.write("real/f", b"x")
    await view.link("link", "real")
    await view.write("link/g", b"y")
    for target in ("..", "/etc/passwd", "real/../../x"):
        with pytest.raises(OutsideWorkspace):
            await view.link("out", target)
    with pytest.raises(PreconditionFailed):
        await view.link("link", "elsewhere")
    await view.land()
    assert (root / "link").readlink() == Path("real")
    assert (root / "real" / "g").read_bytes() == b"y"


async def test_private_files_are_there_at_once_and_move_in_and_out(
    view: FolderView, root: Path
) -> None:
    await view.write("@state/draft", b"x")
    assert Path((await view.resolve("@state/draft")).real).read_bytes() == b"x"
    await view.move("@state/draft", "final")
    with pytest.raises(FileMissing):
        await view.read("@state/draft")
    assert list(root.iterdir()) == []
    await view.land()
    assert (root / "final").read_bytes() == b"x"
    await view.write("@state/again", b"y")
    with pytest.raises(PreconditionFailed):
        await view.move("@state/again", "final")


async def test_a_look_at_a_private_file_that_is_not_there_keeps_nothing_from_landing(
    view: FolderView, folder: Folder, root: Path
) -> None:
    (root / "f").write_bytes(b"x")
    for name in ("@state/moved", "@state/written"):
        with pytest.raises(FileMissing):
            await view.stat(name)
    await view.move("f", "@state/moved")
    await view.write("@state/written", b"y")
    await view.write("g", b"z")
    again = folder.begin("run", packed=await view.pack())
    for each in (view, again):
        assert (await each.read("@state/moved")).data == b"x"
        assert (await each.read("@state/written")).data == b"y"
    await again.land()
    assert [path.name for path in root.iterdir()] == ["g"]


async def test_other_mounts_land_with_the_workspace(tmp_path: Path, root: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "fixed").mkdir()
    mounts = {
        "@other": Mount(tmp_path / "other", writable=True),
        "@fixed": Mount(tmp_path / "fixed"),
    }
    folder = Folder(root, aliases=mounts, journals=tmp_path / "journals")
    view = folder.begin("run", atomic=True)
    await view.write("f", b"x")
    await view.move("f", "@other/f")
    with pytest.raises(OutsideWorkspace):
        await view.write("@fixed/f", b"x")
    await view.land()
    assert (tmp_path / "other" / "f").read_bytes() == b"x"
    await folder.undo("run")
    assert list((tmp_path / "other").iterdir()) == []


async def test_an_empty_folder_is_told_of_and_kept(
    view: FolderView, folder: Folder, root: Path
) -> None:
    (root / "was").mkdir()
    await view.delete("was")
    await view.make_folder("empty/inner", mode=0o700)
    await view.make_folder("full")
    await view.write("full/f", b"x")
    told = [(c.path, c.kind) for c in await view.changes()]
    assert told == [("was", "deleted"), ("empty/inner", "created"), ("full/f", "created")]
    assert "Folder empty/inner created\n" in await view.diff()
    await view.land()
    assert stat.S_IMODE((root / "empty" / "inner").stat().st_mode) == 0o700
    await folder.undo("run")
    assert [path.name for path in root.iterdir()] == ["was"]


async def test_what_moved_is_the_same_file_as_before(view: FolderView, root: Path) -> None:
    (root / "f").write_text("x")
    os.utime(root / "f", (1_000_000, 1_000_000))
    before = (root / "f").stat()
    await view.move("f", "d/g")
    await view.land()
    after = (root / "d" / "g").stat()
    assert (after.st_ino, after.st_mtime, after.st_nlink) == (before.st_ino, before.st_mtime, 1)


async def test_what_moved_keeps_a_mode_that_somebody_else_set(
    view: FolderView, folder: Folder, root: Path
) -> None:
    (root / "f").write_text("x")
    await view.move("f", "g")
    (root / "f").chmod(0o600)
    await view.land()
    assert stat.S_IMODE((root / "g").stat().st_mode) == 0o600
    await folder.undo("run")
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o600


async def test_two_files_change_places(view: FolderView, folder: Folder, root: Path) -> None:
    (root / "a").write_text("a")
    (root / "b").write_text("b")
    await view.move("a", "c")
    await view.move("b", "a")
    await view.move("c", "b")
    await view.land()
    assert ((root / "a").read_text(), (root / "b").read_text()) == ("b", "a")
    await folder.undo("run")
    assert ((root / "a").read_text(), (root / "b").read_text()) == ("a", "b")


async def test_pipes_are_neither_moved_nor_deleted(view: FolderView, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(WorkspaceError, match="pipes"):
        await view.delete("pipe")
    with pytest.raises(WorkspaceError, match="pipes"):
        await view.move("pipe", "elsewhere")


async def test_a_view_is_of_one_run(view: FolderView) -> None:
    with pytest.raises(ConfigError):
        view.begin("another")
    with pytest.raises(ConfigError):
        await view.recover()
    with pytest.raises(ConfigError):
        await view.undo("run")
