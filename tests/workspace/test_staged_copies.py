"""Copies of a view: forks, views that go on in another process, diffs."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from lineshaft.errors import (
    ConfigError,
    StaleFile,
    StateError,
)
from lineshaft.workspace import Folder, FolderView


def is_untouched(root: Path, view: FolderView) -> bool:
    return list(root.iterdir()) == [] and view.landed == 0


async def test_a_fork_is_apart_and_never_lands(view: FolderView, root: Path) -> None:
    await view.write("f", b"one")
    await view.write("@state/s", b"one")
    fork = await view.fork()
    await fork.write("f", b"two")
    await fork.write("@state/s", b"two")
    assert (await view.read("f")).data == b"one"
    assert (await view.read("@state/s")).data == b"one"
    assert "+two" in await fork.diff()
    with pytest.raises(ConfigError, match="never lands"):
        await fork.land()
    await fork.discard()
    assert (await view.read("f")).data == b"one"
    assert is_untouched(root, view)


async def test_large_contents_wait_on_the_disk_and_come_back(
    view: FolderView, folder: Folder, root: Path
) -> None:
    contents = {f"f{number}": bytes([number]) * 3_000_000 for number in range(8)}
    for name, data in contents.items():
        await view.write(name, data)
    for name, data in contents.items():
        assert (await view.read(name)).data == data
    again = folder.begin("run", atomic=True, packed=await view.pack())
    await view.discard()
    await again.land()
    assert {path.name: path.read_bytes() for path in root.iterdir()} == contents
    await folder.undo("run")
    assert list(root.iterdir()) == []


async def test_a_packed_view_goes_on_with_all_that_it_knew(
    view: FolderView, folder: Folder, root: Path
) -> None:
    (root / "read").write_text("old")
    await view.write("landed", b"x")
    await view.land()
    await view.read("read")
    await view.write("waits", b"y")
    await view.write("@state/private", b"z")

    again = folder.begin("run", atomic=True, packed=await view.pack())
    await view.discard()

    assert again.landed == 1
    assert (await again.read("@state/private")).data == b"z"
    assert [(c.path, c.stage) for c in await again.changes()] == [
        ("landed", 1),
        ("@state/private", 0),
        ("waits", 2),
    ]
    (root / "read").write_text("theirs")
    with pytest.raises(StaleFile, match="'read'"):
        await again.land()
    await again.discard()


@pytest.mark.parametrize("damage", [b"", b"no view", b"lineshaft view\n{}\n"])
async def test_what_is_no_packed_view_is_refused(folder: Folder, damage: bytes) -> None:
    with pytest.raises(StateError, match="cannot be read"):
        folder.begin("run", atomic=True, packed=damage or b"lineshaft view\n")


async def test_a_packed_view_of_another_version_or_folder_is_refused(
    view: FolderView, folder: Folder, tmp_path: Path
) -> None:
    await view.write("f", b"x")
    packed = await view.pack()
    with pytest.raises(StateError, match="format 3"):
        folder.begin(atomic=True, packed=packed.replace(b'"format": 2', b'"format": 3'))
    with pytest.raises(StateError, match="cut off"):
        folder.begin(atomic=True, packed=packed[:-1])
    (tmp_path / "elsewhere").mkdir()
    other = Folder(tmp_path / "elsewhere", journals=tmp_path / "j")
    with pytest.raises(StateError, match="another folder"):
        other.begin(atomic=True, packed=packed)


async def test_the_diff_is_one_that_git_applies(
    view: FolderView, root: Path, tmp_path: Path, require: Callable[[str], str]
) -> None:
    git = require("git")
    tree = {"edited": "one\ntwo\nthree", "gone": "gone\n", "old/name": "same\n", "tool": "x\n"}
    other = tmp_path / "other"
    for place in (root, other):
        for name, text in tree.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
    await view.write("edited", b"one\n2\nthree\n")
    await view.delete("gone")
    await view.move("old/name", "new/name")
    await view.write("tool", b"x\n", mode=0o755)
    await view.write("made/deep", "ä\n".encode())
    await view.link("link", "edited")
    await view.write("empty", b"")

    diff = await view.diff()
    await view.land()
    await anyio.run_process([git, "init", "-q", "."], cwd=other)
    await anyio.run_process([git, "apply", "-"], cwd=other, input=diff.encode())

    for name in ("edited", "new/name", "tool", "made/deep", "empty"):
        assert (other / name).read_bytes() == (root / name).read_bytes(), name
    assert (other / "link").readlink() == Path("edited")
    assert os.access(other / "tool", os.X_OK)
    assert not (other / "gone").exists()
    assert not (other / "old").exists()
    assert await view.diff() == ""


async def test_a_diff_shows_what_takes_the_place_of_another_kind_of_thing(
    view: FolderView, root: Path, tmp_path: Path, require: Callable[[str], str]
) -> None:
    git = require("git")
    other = tmp_path / "other"
    for place in (root, other):
        (place / "folder").mkdir(parents=True)
        for name in ("folder/old", "file", "target"):
            (place / name).write_text("old\n")
        (place / "link").symlink_to("target")
    for name in ("folder/old", "folder", "file", "link"):
        await view.delete(name)
    for name in ("folder", "file/new", "link"):
        await view.write(name, b"new\n")

    diff = await view.diff()

    assert "Folder folder deleted\ndiff --git a/folder b/folder\nnew file mode" in diff
    await view.land()
    await anyio.run_process([git, "init", "-q", "."], cwd=other)
    await anyio.run_process([git, "apply", "-"], cwd=other, input=diff.encode())
    for name in ("folder", "file/new", "link"):
        assert (other / name).read_bytes() == (root / name).read_bytes() == b"new\n"
    assert not (other / "link").is_symlink()


NAMES = (
    "a\n+++ b/c",
    'quo"te',
    "back\\slash",
    "tab\tcr\r",
    "turn\u202ed",
    "ä b",
    "x\ndiff --git a/y b/y",
)


async def test_no_name_passes_for_more_of_a_diff(
    view: FolderView, root: Path, tmp_path: Path, require: Callable[[str], str]
) -> None:
    git = require("git")
    for name in NAMES:
        await view.write(f"made/{name}", b"one\n")
        await view.link(f"link {name}", f"+x\ndiff --git {name}")
    await view.make_folder("empty\n+forged")

    diff = await view.diff()

    files = 2 * len(NAMES)
    assert [diff.count(f"\n{sign}") for sign in ("new file", "--- ", "+++ ", "@@ ")] == [files] * 4
    assert sum(line.startswith("diff --git ") for line in diff.split("\n")) == files
    assert "\n+forged" not in diff
    assert "\u202e" not in diff.replace("+diff --git turn\u202ed", "")
    await view.land()
    other = tmp_path / "other"
    other.mkdir()
    await anyio.run_process([git, "init", "-q", "."], cwd=other)
    await anyio.run_process([git, "apply", "-"], cwd=other, input=diff.encode())
    for name in NAMES:
        assert (other / "made" / name).read_bytes() == b"one\n"
        assert (other / f"link {name}").readlink() == (root / f"link {name}").readlink()


async def test_a_diff_says_what_it_leaves_out(view: FolderView) -> None:
    await view.write("binary", b"\0\1")
    await view.write("small", b"small\n")
    for name in ("large", "later"):
        await view.write(name, b"a line of text\n" * 12_000)
    diff = await view.diff()
    assert "Binary files /dev/null and b/binary differ\n" in diff
    assert "+small\n" in diff
    assert diff.endswith("left out: later\n")
    assert len(diff) < 201_000
