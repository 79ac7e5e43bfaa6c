"""Moving and deleting: nothing is overwritten, and a link is a thing of its own."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from lineshaft.errors import (
    FileMissing,
    OutsideWorkspace,
    PreconditionFailed,
    WorkspaceError,
)
from lineshaft.values import Stage
from lineshaft.workspace import Folder, Mount, StagedAnywhere


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def test_a_move_overwrites_nothing(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "d").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")

    for target in ("b", "d", "dangling"):
        with pytest.raises(PreconditionFailed, match=f"'{target}' exists"):
            await folder.move("a", target)
    change = await folder.move("a", "new/place/a")

    assert (change.path, change.kind, change.moved_from) == ("new/place/a", "moved", "a")
    assert change.sha256 == sha(b"a")
    assert (tmp_path / "new/place/a").read_text() == "a"
    assert (tmp_path / "b").read_text() == "b"
    assert not (tmp_path / "a").exists()


async def test_a_folder_moves_with_all_that_is_in_it(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "f").write_text("x")
    (tmp_path / "empty").mkdir()

    with pytest.raises(PreconditionFailed):
        await folder.move("d", "empty")
    with pytest.raises(WorkspaceError, match="into itself"):
        await folder.move("d", "d/e/g")
    with pytest.raises(WorkspaceError, match="not moved"):
        await folder.move(".", "x/y")
    await folder.move("d", "to/d2")

    assert tree(tmp_path) == {"to", "to/d2", "to/d2/e", "to/d2/e/f", "empty"}


async def test_a_move_that_fails_leaves_no_folders(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        await folder.move("nothing", "new/place")

    assert tree(tmp_path) == set()


async def test_a_link_is_moved_and_deleted_itself(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "out").symlink_to("/etc")

    await folder.move("link", "other")
    await folder.delete("other")
    await folder.delete("out")

    assert tree(tmp_path) == {"f"}
    assert Path("/etc").exists()


async def test_a_file_moves_to_another_file_system(tmp_path: Path) -> None:
    shared = Path("/dev/shm")  # noqa: S108  a file system in memory, where there is one
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has no second file system to write to")
    other = shared / f"lineshaft-test-{os.getpid()}"
    other.mkdir()
    try:
        folder = Folder(tmp_path, aliases={"other": Mount(other, writable=True)})
        (tmp_path / "f").write_text("x")
        (tmp_path / "f").chmod(0o700)
        (tmp_path / "d").mkdir()

        await folder.move("f", "@other/in/f")

        assert tree(tmp_path) == {"d"}
        assert (other / "in/f").read_text() == "x"
        assert stat.S_IMODE((other / "in/f").stat().st_mode) == 0o700
        with pytest.raises(WorkspaceError, match="lies on another disk"):
            await folder.move("d", "@other/d")
        await folder.write("f", b"new")
        with pytest.raises(PreconditionFailed):
            await folder.move("f", "@other/in/f")
    finally:
        for path in sorted(other.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        other.rmdir()


async def test_only_empty_folders_are_deleted(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("one\ntwo")

    with pytest.raises(WorkspaceError, match="'d' is not empty"):
        await folder.delete("d")
    with pytest.raises(WorkspaceError, match="not deleted"):
        await folder.delete(".")
    change = await folder.delete("d/f")
    assert (change.kind, change.removed, change.sha256) == ("deleted", 2, None)
    await folder.delete("d")

    assert tree(tmp_path) == set()


async def test_a_read_only_mount_is_read_and_nothing_else(tmp_path: Path) -> None:
    root, package = tmp_path / "ws", tmp_path / "pkg"
    for place in (root, package):
        place.mkdir()
        (place / "f").write_text("x")
    (root / "link").symlink_to(package)
    folder = Folder(root, aliases={"pkg": Mount(package)})

    assert (await folder.read("@pkg/f")).data == b"x"
    for path in ("@pkg/f", "@pkg/new", "link/f"):
        with pytest.raises(OutsideWorkspace, match="read-only"):
            await folder.write(path, b"y")
    for source, target in (("@pkg/f", "g"), ("f", "@pkg/g")):
        with pytest.raises(OutsideWorkspace, match="read-only"):
            await folder.move(source, target)
    with pytest.raises(OutsideWorkspace, match="read-only"):
        await folder.delete("@pkg/f")
    assert tree(package) == {"f"}


KINDS = ("direct", "staged", "anywhere")


def view_of(kind: str, root: Path, **mounts: Mount) -> Stage:
    """Return a run's view of a folder with mounts, of a kind."""
    if kind == "anywhere":
        return StagedAnywhere(Folder(root, aliases=mounts)).begin("run", atomic=True)
    folder = Folder(root, aliases=mounts, journals=root.parent / "journals")
    return folder.begin("run", atomic=kind == "staged")


@pytest.fixture
def third(tmp_path: Path) -> Path:
    """Return a folder of a workspace in which another one is to be mounted."""
    vendor = tmp_path / "work" / "third" / "vendor"
    vendor.mkdir(parents=True)
    (vendor / "pub").write_text("as it was")
    return vendor.parent


@pytest.mark.parametrize("kind", KINDS)
async def test_a_read_only_mount_is_not_moved_with_a_folder_above_it(
    kind: str, third: Path
) -> None:
    view = view_of(kind, third.parent, pkg=Mount(third / "vendor"))
    with pytest.raises(OutsideWorkspace, match="mounted"):
        await view.move("third", "t2")
    await view.write("t2/vendor/pub", b"new")
    await view.land()
    assert (third / "vendor" / "pub").read_text() == "as it was"
    assert (await view.read("@pkg/pub")).data == b"as it was"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_mount_in_another_mount_is_not_moved_with_a_folder_above_it(
    kind: str, third: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    mounts = {"all": Mount(third.parent, writable=True), "pkg": Mount(third / "vendor")}
    view = view_of(kind, tmp_path / "other", **mounts)
    for target in ("t2", "@all/t2"):
        with pytest.raises(OutsideWorkspace, match="mounted"):
            await view.move("@all/third", target)
    await view.land()
    assert tree(third.parent) == {"third", "third/vendor", "third/vendor/pub"}


@pytest.mark.parametrize("kind", ["direct", "staged"])
async def test_a_writable_mount_stays_where_its_alias_leads(kind: str, third: Path) -> None:
    view = view_of(kind, third.parent, pkg=Mount(third / "vendor", writable=True))
    await view.move("@pkg/pub", "pub")
    for act in (
        view.move("third", "t2"),
        view.move("third/vendor", "t2"),
        view.delete("third/vendor"),
        view.delete("@pkg"),
    ):
        with pytest.raises((OutsideWorkspace, WorkspaceError), match="mounted"):
            await act
    await view.write("@pkg/new", b"new")
    await view.land()
    assert tree(third.parent) == {"pub", "third", "third/vendor", "third/vendor/new"}


async def test_a_landing_elsewhere_takes_no_mount_from_its_alias(third: Path) -> None:
    view = view_of("anywhere", third.parent, pkg=Mount(third / "vendor", writable=True))
    await view.move("third", "t2")
    with pytest.raises(WorkspaceError, match=r"mounted as '@pkg'.*nothing landed"):
        await view.land()
    assert tree(third.parent) == {"third", "third/vendor", "third/vendor/pub"}
