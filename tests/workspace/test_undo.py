"""What a run has landed is taken back whole, or not at all."""

import os
import time
from pathlib import Path

import pytest

from landing.trees import tree_of
from lineshaft.errors import RunUnknown, StaleFile, StateError, StateExpired, TooLarge
from lineshaft.values import Command
from lineshaft.workspace import Folder, Mount


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "f").write_text("one\n")
    (root / "g").write_text("g\n")
    (root / "d").mkdir(mode=0o700)
    return root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Folder:
    return Folder(root, journals=tmp_path / "journals")


async def stages(folder: Folder, run_id: str = "run") -> None:
    """Land three stages that build on one another."""
    view = folder.begin(run_id, atomic=True)
    await view.write("f", b"two\n")
    await view.delete("d")
    await view.land()
    await view.move("f", "deep/f")
    await view.write("g", b"gg\n", mode=0o755)
    await view.land()
    await view.write("deep/f", b"three\n")
    await view.link("d", "deep")
    await view.land()
    await view.discard()


async def test_all_stages_are_taken_back_at_once(folder: Folder, root: Path) -> None:
    before = tree_of(root)
    await stages(folder)

    changes = await folder.undo("run")

    assert tree_of(root) == before
    assert {(c.path, c.kind) for c in changes} >= {
        ("f", "created"),
        ("deep/f", "deleted"),
        ("g", "modified"),
    }
    with pytest.raises(RunUnknown, match="undone already"):
        await folder.undo("run")


async def test_a_large_file_comes_back_though_another_name_of_it_was_written_to(
    folder: Folder, root: Path
) -> None:
    (root / "large").write_bytes(b"A" * 2_000_000)
    os.link(root / "large", root / "twin")
    view = folder.begin("run", atomic=True)
    await view.write("large", b"small")
    await view.write("g", b"gg")
    await view.land()
    with (root / "twin").open("r+b") as twin:
        twin.write(b"X")

    await folder.undo("run")

    assert (root / "large").read_bytes() == b"A" * 2_000_000
    assert (root / "g").read_text() == "g\n"


async def test_a_clock_that_went_back_between_stages_does_not_matter(
    folder: Folder, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree_of(root)
    view = folder.begin("run", atomic=True)
    now = time.time_ns()
    for number in range(3):
        monkeypatch.setattr(time, "time_ns", lambda: now - number * 10**12)  # noqa: B023  at once
        await view.write("f", b"%d" % number)
        await view.land()
    await folder.undo("run")
    assert tree_of(root) == before


async def test_a_folder_whose_file_came_to_nothing_is_told_of(folder: Folder, root: Path) -> None:
    before = tree_of(root)
    view = folder.begin("run", atomic=True)
    await view.write("new/inner/f", b"1")
    await view.write("full/f", b"1")
    await view.delete("new/inner/f")
    await view.land()

    told = [(c.path, c.kind) for c in await view.changes()]
    assert told == [("full/f", "created"), ("new/inner", "created")]
    assert (root / "new" / "inner").is_dir()

    await folder.undo("run")
    assert tree_of(root) == before


async def test_folders_that_go_with_their_files_are_not_told(folder: Folder, root: Path) -> None:
    view = folder.begin("run", atomic=True)
    await view.write("new/er/file", b"1")
    await view.land()
    landed = [change.path for change in await view.changes()]

    changes = await folder.undo("run")

    assert [change.path for change in changes] == landed == ["new/er/file"]
    assert not (root / "new").exists()


async def test_nothing_is_undone_where_somebody_changed_something(
    folder: Folder, root: Path
) -> None:
    await stages(folder)
    (root / "g").write_text("theirs")
    (root / "deep" / "theirs").touch()
    before = tree_of(root)

    with pytest.raises(StaleFile) as caught:
        await folder.undo("run")

    assert "'g'" in caught.value.message
    assert "'deep/theirs'" in caught.value.message
    assert tree_of(root) == before
    (root / "g").write_bytes(b"gg\n")
    (root / "deep" / "theirs").unlink()
    await folder.undo("run")
    assert (root / "f").read_text() == "one\n"


async def test_a_mode_that_somebody_changed_is_a_change(folder: Folder, root: Path) -> None:
    await stages(folder)
    (root / "g").chmod(0o600)
    with pytest.raises(StaleFile, match="'g'"):
        await folder.undo("run")


async def test_what_somebody_has_taken_back_already_is_left(folder: Folder, root: Path) -> None:
    before = tree_of(root)
    await stages(folder)
    (root / "g").write_text("g\n")
    (root / "g").chmod(0o644)
    await folder.undo("run")
    assert tree_of(root) == before


async def test_what_a_command_changed_between_two_stages_keeps_both(
    folder: Folder, root: Path
) -> None:
    view = folder.begin("run", atomic=True)
    await view.write("f", b"mine\n")
    await view.land()
    await (await view.run(Command(argv=("sh", "-c", "echo command >> f")))).wait()
    await view.write("f", b"mine again\n")
    await view.land()

    with pytest.raises(StaleFile, match="'f'"):
        await folder.undo("run")

    assert (root / "f").read_text() == "mine again\n"


async def test_a_landing_that_was_about_to_be_forgotten_is_one(
    folder: Folder, tmp_path: Path
) -> None:
    await stages(folder)
    first = min((tmp_path / "journals" / "done").iterdir())
    first.with_suffix(".undone").touch()  # as a process leaves it that dies before the journal goes
    assert folder.begin("run", atomic=True, packed=b"").landed == 3


async def test_later_runs_are_undone_first(folder: Folder, root: Path) -> None:
    before = tree_of(root)
    await stages(folder, "one")
    view = folder.begin("two", atomic=True)
    await view.write("g", b"later\n")
    await view.land()

    with pytest.raises(StaleFile):
        await folder.undo("one")
    await folder.undo("two")
    await folder.undo("one")

    assert tree_of(root) == before


async def test_a_run_that_landed_nothing_is_unknown(folder: Folder, root: Path) -> None:
    with pytest.raises(RunUnknown):
        await folder.undo("run")
    with pytest.raises(RunUnknown):
        await Folder(root).undo("run")


async def test_after_its_time_a_landing_is_no_longer_undone(
    folder: Folder, root: Path, tmp_path: Path
) -> None:
    await stages(folder)
    later = Folder(root, journals=tmp_path / "journals", keep_days=1e-9)
    before = tree_of(root)

    with pytest.raises(StateExpired):
        await later.undo("run")
    view = later.begin("next", atomic=True)
    await view.write("next", b"x")
    await view.land()

    done = tmp_path / "journals" / "done"
    assert {path.suffix for path in done.iterdir()} <= {".expired", ".journal"}
    assert all(path.stat().st_size == 0 for path in done.glob("*.expired"))
    with pytest.raises(StateExpired):
        await folder.undo("run")
    assert tree_of(root) == before | {"next": ("file", 0o644, b"x")}


async def test_journals_are_private(root: Path, tmp_path: Path) -> None:
    (root / "large").write_bytes(b"l" * 1_500_000)
    (root / "large").chmod(0o600)
    other = Folder(root, journals=tmp_path / "state" / "journals")
    view = other.begin("run", atomic=True)
    await view.write("large", b"")
    await view.land()
    kept = list((tmp_path / "state").rglob("*"))
    assert any(path.parent.parent.name == "kept" for path in kept)
    for path in (tmp_path / "state", *kept):
        assert path.lstat().st_mode & 0o077 == 0, path


async def test_a_damaged_journal_undoes_nothing(folder: Folder, root: Path, tmp_path: Path) -> None:
    await stages(folder)
    before = tree_of(root)
    first = min((tmp_path / "journals" / "done").iterdir())
    whole = first.read_bytes()
    for damaged in (whole[:-20], whole.replace(b"one\n", b"eno\n")):
        first.write_bytes(damaged)
        with pytest.raises(StateError, match="damaged"):
            await folder.undo("run")
        assert tree_of(root) == before
    first.write_bytes(whole)
    await folder.undo("run")


async def test_large_files_are_kept_without_a_copy(
    folder: Folder, root: Path, tmp_path: Path
) -> None:
    large = os.urandom(1_500_000)
    (root / "large").write_bytes(large)
    inode = (root / "large").stat().st_ino
    view = folder.begin("run", atomic=True)
    await view.write("large", b"small")
    await view.land()

    kept = [path for path in (tmp_path / "journals" / "kept").rglob("*") if path.is_file()]
    assert [path.stat().st_ino for path in kept] == [inode]
    await folder.undo("run")
    assert (root / "large").read_bytes() == large
    assert not any(path.is_file() for path in (tmp_path / "journals" / "kept").rglob("*"))


async def test_an_undo_names_the_file_whose_kept_content_was_written_in_place(
    folder: Folder, root: Path
) -> None:
    large = os.urandom(1_500_000)
    (root / "log").write_bytes(large)
    before = tree_of(root)
    with (root / "log").open("r+b") as log:
        view = folder.begin("run", atomic=True)
        await view.write("log", b"small")
        await view.write("f", b"two")
        await view.land()
        log.write(b"one more line")
    landed = tree_of(root)

    with pytest.raises(StateError, match="content of 'log' from before run 'run'") as caught:
        await folder.undo("run")

    assert "nothing was undone" in caught.value.message
    assert "by hand" in (caught.value.hint or "")
    assert tree_of(root) == landed
    (root / "log").write_bytes(large)
    assert (await folder.undo("run")).already == ("log",)
    assert tree_of(root) == before


async def test_without_an_id_nothing_is_kept(folder: Folder, tmp_path: Path) -> None:
    view = folder.begin(atomic=True)
    await view.write("f", b"x")
    await view.land()
    assert [change.undoable for change in await view.changes()] == [False]
    assert list((tmp_path / "journals" / "done").iterdir()) == []


async def test_what_a_run_made_of_a_file_is_read_over_all_its_stages(folder: Folder) -> None:
    await stages(folder)
    moved = await folder.landed("run", "deep/f", "f")
    assert (moved.before, moved.after) == (b"one\n", b"three\n")
    assert (await folder.landed("run", "g")).after == b"gg\n"
    link = await folder.landed("run", "d")
    assert (link.before, link.after) == (None, None)
    with pytest.raises(RunUnknown, match="no change of '\\.\\./secret'"):
        await folder.landed("run", "../secret")
    with pytest.raises(RunUnknown, match="no change of 'f'"):
        await folder.landed("another", "f")
    await folder.undo("run")
    with pytest.raises(StateExpired, match="it was undone, or is old"):
        await folder.landed("run", "g")


async def test_a_large_file_is_not_read(folder: Folder) -> None:
    view = folder.begin("run", atomic=True)
    await view.write("large", b"x" * 1_000_001)
    await view.land()
    await view.discard()
    with pytest.raises(TooLarge, match="1,000,001 bytes"):
        await folder.landed("run", "large")


async def test_a_run_of_another_folder_is_not_taken_back_here(
    folder: Folder, root: Path, tmp_path: Path
) -> None:
    """Journals that were copied along with a state folder name the files of the other one."""
    await stages(folder)
    before = tree_of(root)
    (tmp_path / "other").mkdir()
    other = Folder(tmp_path / "other", journals=tmp_path / "journals")
    with pytest.raises(RunUnknown, match="is one of another workspace") as caught:
        await other.undo("run")
    assert f"--workspace {root}" in caught.value.hint
    assert tree_of(root) == before
    assert len(await folder.undo("run")) > 0


async def test_another_mount_that_leads_elsewhere_by_now_is_taken_back_where_it_was_changed(
    root: Path, tmp_path: Path
) -> None:
    one, two, journals = tmp_path / "one", tmp_path / "two", tmp_path / "journals"
    one.mkdir()
    two.mkdir()
    before = Folder(root, aliases={"@data": Mount(one, writable=True)}, journals=journals)
    view = before.begin("run", atomic=True)
    await view.write("@data/x", b"x")
    await view.write("f", b"two\n")
    await view.land()
    await view.discard()
    now = Folder(root, aliases={"@data": Mount(two, writable=True)}, journals=journals)
    assert len(await now.undo("run")) == 2
    assert list(one.iterdir()) == []
    assert (root / "f").read_text() == "one\n"
