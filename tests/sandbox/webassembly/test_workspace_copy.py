"""The private copy of a workspace: brought up to date, compared, and never a way out of itself."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from lineshaft.errors import TooLarge
from lineshaft.sandbox.jail import SandboxSpec
from lineshaft.sandbox.webassembly.program import Bounds, WorkspaceCopy

OPEN = SandboxSpec(readable=())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a few files."""
    root = tmp_path / "workspace"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "a").write_text("a")
    (root / "sub" / "b").write_text("b")
    (root / "sub" / "deep" / "c").write_text("c")
    return root


@pytest.fixture
def copy(root: Path) -> Iterator[WorkspaceCopy]:
    """Its copy, up to date."""
    copy = WorkspaceCopy(root)
    copy.refresh(OPEN)
    yield copy
    copy.close()


def tree(folder: Path) -> dict[str, str]:
    """Return what is below a folder: kind or content, by path."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = "/" if path.is_dir() else path.read_text()
    return found


def told(copy: WorkspaceCopy) -> dict[str, str]:
    """Return what was done to each path of a copy."""
    return {change.path: change.how for change in copy.changes().files}


def test_a_copy_is_what_the_folder_is_and_shares_no_file(root: Path, copy: WorkspaceCopy) -> None:
    (root / "link").symlink_to("sub")
    copy.refresh(OPEN)

    assert tree(copy.folder) == tree(root)
    assert {p.stat().st_ino for p in root.rglob("*")}.isdisjoint(
        p.lstat().st_ino for p in copy.folder.rglob("*")
    )
    assert told(copy) == {}


def test_the_next_program_finds_what_the_folder_is_then(root: Path, copy: WorkspaceCopy) -> None:
    (root / "a").write_text("other")
    shutil.rmtree(root / "sub" / "deep")
    (root / "sub" / "deep").write_text("a file now")
    (root / "sub" / "b").unlink()
    (root / "sub" / "b").mkdir()
    (root / "sub" / "b" / "new").write_text("n")
    (root / "gone").symlink_to("nowhere")

    copy.refresh(OPEN)

    assert tree(copy.folder) == tree(root)
    assert told(copy) == {}


def test_what_a_program_left_is_undone_where_the_folder_has_it_not(
    root: Path, copy: WorkspaceCopy
) -> None:
    shutil.rmtree(copy.folder / "sub")
    (copy.folder / "sub").symlink_to("/")
    (copy.folder / "a").unlink()
    (copy.folder / "a").mkdir()
    (copy.folder / "a" / "x").write_text("x")
    copy.changes()

    copy.refresh(OPEN)

    assert tree(copy.folder) == tree(root)
    assert Path("/usr").is_dir()


def test_a_forged_time_hides_no_change(root: Path, copy: WorkspaceCopy) -> None:
    target = copy.folder / "a"
    before = target.stat()
    target.write_text("z")
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    mine = root / "sub" / "b"
    was = mine.stat()
    mine.write_text("y")
    os.utime(mine, ns=(was.st_atime_ns, was.st_mtime_ns))

    assert told(copy) == {"a": "written"}
    copy.refresh(OPEN)
    assert (copy.folder / "sub" / "b").read_text() == "y"


def test_no_link_of_a_program_is_followed(root: Path, copy: WorkspaceCopy) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hush")
    (copy.folder / "file").symlink_to(outside / "secret")
    (copy.folder / "folder").symlink_to(outside)
    os.link(copy.folder / "file", copy.folder / "hard", follow_symlinks=False)
    (copy.folder / "a").unlink()
    (copy.folder / "a").symlink_to("../../outside/secret")

    changes = {change.path: change for change in copy.changes().files}

    assert {path: change.how for path, change in changes.items()} == dict.fromkeys(
        ("a", "file", "folder", "hard"), "symlink"
    )
    assert all(change.upper is None for change in changes.values())
    copy.refresh(OPEN)
    assert (outside / "secret").read_text() == "hush"


def test_what_is_closed_is_not_there_by_any_name_and_may_not_appear(root: Path) -> None:
    (root / ".env").write_text("hush")
    (root / "sub" / "same").hardlink_to(root / ".env")
    spec = SandboxSpec(
        readable=(), hidden=(root / ".env", root / "sub" / "same"), readonly=(root / "a",)
    )
    copy = WorkspaceCopy(root)
    copy.refresh(spec)

    assert {".env", "sub/same"}.isdisjoint(tree(copy.folder))
    (copy.folder / ".env").write_text("made")
    (copy.folder / "a").write_text("changed")
    assert copy.changes().refused == (".env", "a")
    copy.close()


class Meanwhile(Event):
    """A wait, in which others do something once the folder is listed."""

    def __init__(self, do: Callable[[], None]) -> None:
        super().__init__()
        self._waiting = [do, lambda: None]

    def is_set(self) -> bool:
        """Let them do it at the second look."""
        if self._waiting:
            self._waiting.pop()()
        return False


def test_nothing_of_outside_is_copied_where_a_symlink_comes_meanwhile(
    root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(root / "sub", outside)
    for path in (outside / "b", outside / "deep" / "c"):
        path.write_text("hush")

    def swap() -> None:
        for place, target in ((root / "sub", outside), (root / "a", outside / "b")):
            place.rename(place.with_name(f"{place.name}-before"))
            place.symlink_to(target)

    copy = WorkspaceCopy(root)
    copy.refresh(OPEN, left=Meanwhile(swap))

    assert tree(copy.folder) == {"sub": "/", "sub/deep": "/"}
    copy.close()


def test_a_file_that_is_replaced_meanwhile_is_copied_as_it_is_then(root: Path) -> None:
    def save() -> None:
        (root / "new").write_text("saved")
        (root / "new").rename(root / "sub" / "deep" / "c")

    copy = WorkspaceCopy(root)
    copy.refresh(OPEN, left=Meanwhile(save))

    assert tree(copy.folder)["sub/deep/c"] == "saved"
    copy.close()


def test_a_symlink_that_becomes_a_file_meanwhile_stops_no_copy(root: Path) -> None:
    (root / "link").symlink_to("a")

    def replace() -> None:
        (root / "link").unlink()
        (root / "link").write_text("file")

    copy = WorkspaceCopy(root)
    copy.refresh(OPEN, left=Meanwhile(replace))

    assert tree(copy.folder).keys() == {"a", "sub", "sub/b", "sub/deep", "sub/deep/c"}
    copy.close()


def test_what_a_guest_cannot_see_is_left_out_and_told(root: Path, copy: WorkspaceCopy) -> None:
    os.close(os.open(os.fsencode(root) + b"/caf\xe9", os.O_CREAT, 0o600))
    os.mkfifo(root / "pipe")

    assert set(copy.refresh(OPEN)) == {
        "caf\\xe9 (its name is not UTF-8)",
        "pipe (it is no file, folder or symlink)",
    }
    assert tree(copy.folder).keys() == {"a", "sub", "sub/b", "sub/deep", "sub/deep/c"}
    assert told(copy) == {}


def test_permissions_are_those_that_the_program_set(root: Path, copy: WorkspaceCopy) -> None:
    (root / "a").chmod(0o755)
    copy.refresh(OPEN)
    (copy.folder / "new").write_text("n")

    changes = {change.path: change for change in copy.changes({"sub/b": 0o700, "new": 0o750}).files}

    assert copy.modes() == {"a": 0o755}
    assert {path: change.mode for path, change in changes.items()} == {"sub/b": 0o700, "new": 0o750}


def test_a_folder_that_may_not_be_written_is_brought_up_to_date(root: Path) -> None:
    (root / "sub").chmod(0o500)
    copy = WorkspaceCopy(root)
    copy.refresh(OPEN)
    (root / "sub").chmod(0o700)
    (root / "sub" / "b").write_text("new")
    (root / "sub").chmod(0o500)

    copy.refresh(OPEN)

    assert (copy.folder / "sub" / "b").read_text() == "new"
    assert (copy.folder / "sub").stat().st_mode & 0o777 == 0o500
    place = copy.place
    copy.close()
    assert not place.exists()
    (root / "sub").chmod(0o700)


@pytest.mark.parametrize("bounds", [Bounds(files=4), Bounds(size=2)])
def test_a_folder_beyond_the_bounds_is_refused(root: Path, bounds: Bounds) -> None:
    copy = WorkspaceCopy(root, bounds)

    with pytest.raises(TooLarge, match="too large for programs without a jail"):
        copy.refresh(OPEN)

    copy.close()


def test_a_program_leaves_no_more_than_the_bounds(root: Path) -> None:
    copy = WorkspaceCopy(root, Bounds(files=8, written=1_000))
    copy.refresh(OPEN)
    (copy.folder / "large").write_bytes(bytes(1_001))
    with pytest.raises(TooLarge, match="MB of files"):
        copy.changes()
    (copy.folder / "large").unlink()
    for number in range(9):
        (copy.folder / f"n{number}").touch()
    with pytest.raises(TooLarge, match="more than 8 files"):
        copy.changes()
    copy.close()


def test_folders_deeper_than_a_path_are_refused_and_removed(
    root: Path, copy: WorkspaceCopy
) -> None:
    at = os.open(copy.folder, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d" * 20, dir_fd=at)
        deeper = os.open("d" * 20, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = deeper
    os.close(at)

    with pytest.raises(TooLarge, match="nested too deeply"):
        copy.changes()
    copy.reset()

    assert not copy.folder.exists()
    copy.refresh(OPEN)
    assert tree(copy.folder) == tree(root)


def test_a_workspace_that_holds_the_copies_does_not_copy_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "a").write_text("a")
    copy = WorkspaceCopy(tmp_path)

    copy.refresh(OPEN)
    copy.refresh(OPEN)

    assert tree(copy.folder) == {"a": "a"}
    copy.close()
