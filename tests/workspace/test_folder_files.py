"""Reading, writing, moving and deleting: each whole, none through a link nobody decided on."""

import errno
import hashlib
import os
import resource
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from lineshaft.errors import (
    FileMissing,
    OutsideWorkspace,
    PreconditionFailed,
    TooLarge,
    WorkspaceError,
)
from lineshaft.workspace import Folder
from lineshaft.workspace.disk import Mounts, access, edits, scan
from lineshaft.workspace.disk.access import MOST_BYTES
from users import as_nobody


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def tree(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*")}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def test_a_file_is_read_as_it_is(folder: Folder, tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfa\r\nb\0\xff"
    (tmp_path / "f").write_bytes(data)

    content = await folder.read("./f")

    assert (content.data, content.sha256) == (data, sha(data))


async def test_what_is_missing_is_said_by_its_canonical_name(
    folder: Folder, tmp_path: Path
) -> None:
    for act in (folder.read, folder.stat, folder.delete):
        with pytest.raises(FileMissing, match=r"no file or folder 'a/b'") as caught:
            await act("./a//b")
        assert str(tmp_path) not in str(caught.value)


async def test_a_folder_is_no_file_and_a_file_no_folder(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("x")

    with pytest.raises(WorkspaceError, match="'d' is a folder, not a file"):
        await folder.read("d")
    with pytest.raises(WorkspaceError, match="'d' is a folder, not a file"):
        await folder.write("d", b"x")
    with pytest.raises(WorkspaceError, match="is a folder, not a file"):
        await folder.write(".", b"x")
    with pytest.raises(WorkspaceError, match="'f/x' cannot be used: a part of it is not a folder"):
        await folder.read("f/x")
    with pytest.raises(WorkspaceError, match="'f/x' cannot be used: a part of it is not a folder"):
        await folder.write("f/x", b"x")
    with pytest.raises(WorkspaceError, match="'f' is not a folder"):
        [entry async for entry in folder.walk("f")]


async def test_pipes_devices_and_sockets_are_not_opened(folder: Folder, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    try:
        for name in ("fifo", "socket"):
            with anyio.fail_after(5):
                assert (await folder.stat(name)).kind == "other"
                with pytest.raises(WorkspaceError, match="not a regular file"):
                    await folder.read(name)
                with pytest.raises(WorkspaceError, match="not a regular file"):
                    await folder.write(name, b"x")
                await folder.delete(name)
    finally:
        listener.close()
    assert tree(tmp_path) == set()


async def test_a_file_too_large_to_hold_is_refused(folder: Folder, tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)

    with pytest.raises(TooLarge):
        await folder.read("huge")


async def test_a_write_makes_folders_and_says_what_it_did(folder: Folder, tmp_path: Path) -> None:
    change = await folder.write("a/b/c.txt", b"one\ntwo\n")

    assert (change.path, change.kind, change.sha256) == ("a/b/c.txt", "created", sha(b"one\ntwo\n"))
    assert (change.added, change.removed) == (2, 0)
    assert tree(tmp_path) == {"a", "a/b", "a/b/c.txt"}
    change = await folder.write("a/b/c.txt", b"one\n2\nthree\n")
    assert (change.kind, change.added, change.removed) == ("modified", 2, 1)
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"one\n2\nthree\n"


async def test_a_write_keeps_the_mode(folder: Folder, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o751)

    await folder.write("run.sh", b"new")

    assert stat.S_IMODE(script.stat().st_mode) == 0o751


async def test_a_new_file_gets_the_mode_of_any_new_file(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "other").touch()

    await folder.write("new", b"x")

    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


async def test_a_write_through_a_symlink_changes_what_it_leads_to(
    folder: Folder, tmp_path: Path
) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")

    change = await folder.write("link", b"new")

    assert change.path == "target"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


async def test_a_write_replaces_the_file_in_one_step(folder: Folder, tmp_path: Path) -> None:
    file = tmp_path / "f"
    versions = [bytes([letter]) * 300_000 for letter in b"ab"]
    file.write_bytes(versions[0])
    torn: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if file.read_bytes() not in versions:
                torn.append(1)

    reader = threading.Thread(target=watch)
    reader.start()
    try:
        for turn in range(60):
            await folder.write("f", versions[turn % 2])
    finally:
        over.set()
        reader.join()
    assert torn == []


async def test_the_same_content_again_touches_nothing(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x\n")
    before = (tmp_path / "f").stat()

    change = await folder.write("f", b"x\n")

    after = (tmp_path / "f").stat()  # looking at it may count as a read of it
    assert (change.added, change.removed) == (0, 0)
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


async def test_a_write_may_ask_for_what_is_there(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")

    with pytest.raises(PreconditionFailed, match=sha(b"old")):
        await folder.write("f", b"new", if_match=sha(b"other"))
    with pytest.raises(PreconditionFailed, match="there is no such file"):
        await folder.write("a/b", b"new", if_match=sha(b"other"))
    await folder.write("f", b"new", if_match=sha(b"old").upper())

    assert tree(tmp_path) == {"f"}
    assert (tmp_path / "f").read_bytes() == b"new"


@pytest.fixture
def full_disk() -> object:
    """Files cannot grow beyond a thousand bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("full_disk")
async def test_a_full_disk_leaves_everything_as_it_was(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")

    for path in ("f", "new", "a/b/new"):
        with pytest.raises(WorkspaceError, match="no room to write") as caught:
            await folder.write(path, b"x" * 5_000)
        assert str(tmp_path) not in str(caught.value)

    assert (tmp_path / "f").read_bytes() == b"old"
    assert tree(tmp_path) == {"f"}


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder for a user without privileges, who this process is for a while."""
    with as_nobody() as folder:
        yield folder


async def test_a_write_protected_file_is_left_alone(nobody: Path) -> None:
    (nobody / "f").write_text("old")
    (nobody / "f").chmod(0o444)

    with pytest.raises(WorkspaceError, match="'f' is write-protected"):
        await Folder(nobody).write("f", b"new")

    assert (nobody / "f").read_text() == "old"


async def test_what_may_not_be_entered_is_said_and_walked_past(nobody: Path) -> None:
    (nobody / "closed").mkdir()
    (nobody / "closed" / "f").write_text("x")
    (nobody / "g").write_text("x")
    (nobody / "closed").chmod(0)
    folder = Folder(nobody)

    try:
        for act in (folder.read, folder.stat, folder.resolve):
            with pytest.raises(WorkspaceError, match="Permission denied") as caught:
                await act("closed/f")
            assert str(nobody) not in str(caught.value)
        assert [entry.path async for entry in folder.walk()] == ["closed", "g"]
    finally:
        (nobody / "closed").chmod(0o700)


async def test_files_are_handled_where_folders_cannot_be_opened(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: everything by path."""
    monkeypatch.setattr(access, "BY_DESCRIPTOR", False)
    monkeypatch.setattr(edits, "BY_DESCRIPTOR", False)

    await folder.write("a/b", b"one")
    await folder.write("a/b", b"two")
    await folder.move("a/b", "c/d")
    await folder.write("gone", b"x")
    await folder.delete("gone")

    assert [entry.path async for entry in folder.walk()] == ["a", "c", "c/d"]
    assert (await folder.read("c/d")).data == b"two"
    assert tree(tmp_path) == {"a", "c", "c/d"}


async def test_left_over_temporary_files_are_hidden_and_swept(
    folder: Folder, tmp_path: Path
) -> None:
    old = tmp_path / ".lineshaft-0123456789abcdef.tmp"
    new = tmp_path / ".lineshaft-fedcba9876543210.tmp"
    for file in (old, new):
        file.touch()
    an_hour_ago = time.time() - 4_000
    os.utime(old, (an_hour_ago, an_hour_ago))

    assert [entry async for entry in folder.walk(ignore=False)] == []
    await folder.write("f", b"x")

    assert tree(tmp_path) == {"f", new.name}


def test_a_symlink_put_in_the_way_after_the_decision_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    for place in (root / "d", outside):
        place.mkdir(parents=True)
        (place / "f").write_bytes(place.name.encode())
    mounts = Mounts(root, {})
    inner, new, folder = (mounts.place(path) for path in ("d/f", "d/new", "d"))
    mine = mounts.place("mine")
    (root / "mine").write_text("x")

    (root / "d" / "f").unlink()
    (root / "d" / "f").symlink_to(outside / "f")
    with pytest.raises(OutsideWorkspace, match="became a symlink"):
        access.read(inner)
    with pytest.raises(OutsideWorkspace, match="became a symlink"):
        edits.write(inner, b"x", lambda _: None)
    (root / "d" / "f").unlink()
    (root / "d").rmdir()
    (root / "d").symlink_to(outside)
    for act in (
        lambda: access.read(inner),
        lambda: edits.write(inner, b"x", lambda _: None),
        lambda: edits.write(new, b"x", lambda _: None),
        lambda: edits.delete(inner, lambda _: None),
        lambda: edits.move(inner, mine, lambda _: None),
        lambda: edits.move(mine, new, lambda _: None),
        lambda: list(scan(folder, ignore=None)),
    ):
        with pytest.raises((WorkspaceError, OSError)):
            act()

    assert {path.name for path in outside.iterdir()} == {"f"}
    assert (outside / "f").read_bytes() == b"outside"


async def test_a_workspace_that_vanishes_is_said_to_be_gone(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    folder = Folder(root)
    root.rmdir()

    async def walk() -> None:
        async for _ in folder.walk():
            pass

    for act in (
        lambda: folder.read("f"),
        lambda: folder.write("a/f", b"x"),
        lambda: folder.stat("f"),
        lambda: folder.move("f", "g"),
        lambda: folder.delete("f"),
        walk,
    ):
        with pytest.raises(WorkspaceError, match="the folder of '@project' is gone") as caught:
            await act()
        assert str(tmp_path) not in str(caught.value)
    assert not root.exists()


async def test_names_that_the_system_refuses_are_explained(folder: Folder) -> None:
    with pytest.raises(WorkspaceError, match=os.strerror(errno.ENAMETOOLONG)):
        await folder.write("x" * 300, b"x")


async def test_a_stat_tells_kinds_apart(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    (tmp_path / ".d").mkdir()
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "out").symlink_to("/etc/hostname")
    (tmp_path / "dangling").symlink_to("nowhere")

    kinds = {
        name: (entry.kind, entry.size, entry.hidden, entry.symlink)
        for name in ("f", ".d", "link", "out", "dangling")
        if (entry := await folder.stat(name))
    }

    assert kinds == {
        "f": ("file", 5, False, False),
        ".d": ("folder", 0, True, False),
        "link": ("file", 5, False, True),
        "out": ("symlink", 0, False, True),
        "dangling": ("symlink", 0, False, True),
    }


async def test_writes_of_one_file_at_once_each_land_whole(folder: Folder, tmp_path: Path) -> None:
    texts = [f"{n}\n".encode() * 1_000 for n in range(20)]
    async with anyio.create_task_group() as tasks:
        for text in texts:
            tasks.start_soon(folder.write, "f", text)

    assert (tmp_path / "f").read_bytes() in texts
    assert tree(tmp_path) == {"f"}
