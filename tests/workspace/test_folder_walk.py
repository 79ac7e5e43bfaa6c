"""Walks: sorted, bounded by links and by what `.gitignore` files say."""

import os
from pathlib import Path

import pytest

from lineshaft.errors import FileMissing
from lineshaft.workspace import Folder, Mount


def grow(base: Path, *files: str, **ignores: str) -> Folder:
    for name in files:
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for folder, text in ignores.items():
        (base / folder.replace("root", ".") / ".gitignore").write_text(text)
    return Folder(base)


async def walked(
    folder: Folder, root: str = ".", *, ignore: bool = True, depth: int | None = None
) -> list[str]:
    return [entry.path async for entry in folder.walk(root, ignore=ignore, depth=depth)]


async def test_entries_come_sorted_each_folder_before_what_is_in_it(tmp_path: Path) -> None:
    folder = grow(tmp_path, "b", "a/z", "a/b/c", "a.txt", "B")

    assert await walked(folder) == ["B", "a", "a/b", "a/b/c", "a/z", "a.txt", "b"]
    assert await walked(folder, "a") == ["a/b", "a/b/c", "a/z"]
    assert await walked(folder, depth=1) == ["B", "a", "a.txt", "b"]
    assert await walked(folder, depth=2) == ["B", "a", "a/b", "a/z", "a.txt", "b"]


async def test_more_entries_than_one_batch_come_whole(tmp_path: Path) -> None:
    names = sorted(f"f{n}" for n in range(450))
    folder = grow(tmp_path, *names)

    assert await walked(folder) == names


async def test_kinds_sizes_and_links_are_told(tmp_path: Path) -> None:
    folder = grow(tmp_path, "d/f", ".hidden/f")
    (tmp_path / "to-folder").symlink_to("d")
    (tmp_path / "to-file").symlink_to("d/f")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "up").symlink_to(".")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff")).touch()

    found = {
        entry.path: (entry.kind, entry.size, entry.hidden, entry.symlink)
        async for entry in folder.walk()
    }

    assert found == {
        ".hidden": ("folder", 0, True, False),
        ".hidden/f": ("file", 1, True, False),
        "d": ("folder", 0, False, False),
        "d/f": ("file", 1, False, False),
        "fifo": ("other", 0, False, False),
        "loop": ("symlink", 0, False, True),
        "out": ("symlink", 0, False, True),
        "to-file": ("file", 1, False, True),
        "to-folder": ("folder", 0, False, True),
        "up": ("folder", 0, False, True),
        "\ufffd": ("other", 0, False, False),
    }


async def test_ignored_files_are_left_out_as_git_does(tmp_path: Path) -> None:
    folder = grow(
        tmp_path,
        *("a.pyc", "keep.pyc", "build/x", "src/build/y", "src/a.log", "src/deep/a.log"),
        *("src/deep/keep.log", "docs/one.txt", "docs/two.txt", "logs/x", ".git/config", "src/.git"),
        root="# comment\n\n*.pyc\n!keep.pyc\n/build/\n*.log\nlogs\n",
        src="/deep/*.txt\n",
        docs="*\n!.gitignore\n!two.txt\n",
    )
    (tmp_path / "src/deep/.gitignore").write_text("!keep.log\n")

    assert await walked(folder) == [
        ".gitignore",
        "docs",
        "docs/.gitignore",
        "docs/two.txt",
        "keep.pyc",
        "src",
        "src/.gitignore",
        "src/build",
        "src/build/y",
        "src/deep",
        "src/deep/.gitignore",
        "src/deep/keep.log",
    ]


async def test_rules_of_folders_above_hold_in_a_walk_further_down(tmp_path: Path) -> None:
    folder = grow(tmp_path, "src/a.log", "src/b", root="*.log\n")

    assert await walked(folder, "src") == ["src/b"]
    assert await walked(folder, "src", ignore=False) == ["src/a.log", "src/b"]


async def test_an_ignored_folder_asked_for_by_name_is_shown(tmp_path: Path) -> None:
    folder = grow(tmp_path, "build/lib/x", "build/lib/y.log", root="build/\n*.log\n")

    assert await walked(folder) == [".gitignore"]
    assert await walked(folder, "build") == ["build/lib", "build/lib/x", "build/lib/y.log"]
    assert await walked(folder, "build/lib") == ["build/lib/x", "build/lib/y.log"]


async def test_everything_is_shown_where_ignoring_is_off(tmp_path: Path) -> None:
    folder = grow(tmp_path, ".git/config", "a", root="a\n")

    assert await walked(folder, ignore=False) == [".git", ".git/config", ".gitignore", "a"]


async def test_rules_that_cannot_be_read_or_would_take_forever_are_skipped(tmp_path: Path) -> None:
    folder = grow(tmp_path, "a" * 200, "b", root="!\n\\\n*a*a*a*a*a*a*a*a*c\n**/**/**/**/b\nb\n")
    (tmp_path / "d").mkdir()
    os.mkfifo(tmp_path / "d" / ".gitignore")

    assert await walked(folder) == [".gitignore", "a" * 200, "d", "d/.gitignore"]


async def test_rules_with_many_stars_hold_as_in_git(tmp_path: Path) -> None:
    """Without a retry of what stands between two stars, which could hold up the host for hours."""
    names = ("one-two-three-four-5", "a/x/b/y/z/c/d/f", "a/x/bb/y/c/d/f", "a/b/c/d/g", *"hi")
    stars = f"{'*a' * 60}*b\n{'a/**/' * 40}b\n"
    folder = grow(tmp_path, *names, root=f"{stars}*o*e*t*o*t*f*r*\n**/a/**/b/**/c/**/f\n")
    (tmp_path / ("a" * 240)).write_text("x")

    found = [entry.path async for entry in folder.walk() if entry.kind == "file"]

    assert found == [".gitignore", "a/b/c/d/g", "a/x/bb/y/c/d/f", "a" * 240, "h", "i"]


async def test_of_a_huge_file_of_rules_the_first_ones_hold_whole(tmp_path: Path) -> None:
    folder = grow(tmp_path, "first", "bb", root="first\n" + "#" * 199_990 + "\n**/bbb\n")

    assert await walked(folder) == [".gitignore", "bb"]


async def test_other_mounts_are_walked_by_alias(tmp_path: Path) -> None:
    grow(tmp_path / "pkg", "a/b", "@c/d")
    folder = Folder(
        tmp_path,
        aliases={"pkg": Mount(tmp_path / "pkg")},
    )
    elsewhere = Folder(tmp_path / "pkg" / "a", aliases={"pkg": Mount(tmp_path / "pkg")})

    assert await walked(elsewhere, "@pkg") == ["@pkg/@c", "@pkg/@c/d", ".", "b"]
    assert await walked(folder, "@pkg/a") == ["pkg/a/b"]


async def test_a_very_deep_tree_is_walked(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)

    assert len(await walked(Folder(tmp_path))) == 300


async def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="'gone'"):
        await walked(Folder(tmp_path), "gone")
