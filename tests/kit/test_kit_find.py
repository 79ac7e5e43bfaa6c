"""Listing, finding and searching as a script does."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ToolError
from lineshaft.kit import find_files, list_files, search_text
from lineshaft.kit._glob import Glob
from lineshaft.kit._results import Entries
from lineshaft.values import Context


def grow(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def paths(entries: Entries) -> list[str]:
    return [entry["path"] for entry in entries["entries"]]


async def test_a_folder_is_listed_with_all_that_is_in_it(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, d__inner="x", f="12345", _DOT_gitignore="f\n", _DOT_git__config="x")
    (tmp_path / "link").symlink_to("d")

    listed = await list_files(call)

    assert paths(listed) == [".git", ".gitignore", "d", "f", "link"]
    assert listed["entries"][3] == {
        "path": "f",
        "kind": "file",
        "size": 5,
        "hidden": False,
        "symlink": False,
    }
    assert listed["entries"][1]["hidden"]
    assert (listed["entries"][4]["kind"], listed["entries"][4]["symlink"]) == ("folder", True)
    assert paths(await list_files(call, "d")) == ["d/inner"]


async def test_a_recursive_list_leaves_out_what_is_ignored(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, d__e__f="x", build__x="x", _DOT_gitignore="build/\n", _DOT_git__config="x")

    assert paths(await list_files(call, recursive=True)) == [".gitignore", "d", "d/e", "d/e/f"]


async def test_a_direct_list_ends_at_200(direct: Context, tmp_path: Path) -> None:
    for n in range(200):
        (tmp_path / f"f{n:03}").touch()
    whole = await list_files(direct)
    (tmp_path / "g").touch()
    cut = await list_files(direct)

    assert (len(whole["entries"]), whole["truncated"]) == (200, False)
    assert (len(cut["entries"]), cut["truncated"]) == (200, True)


@pytest.mark.parametrize("path", ["gone", "f", "../x"])
async def test_a_list_of_no_folder_fails(call: Context, tmp_path: Path, path: str) -> None:
    grow(tmp_path, f="x")

    with pytest.raises(ToolError):
        await list_files(call, path)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", ".", ["a.py"]),
        ("**/*.py", ".", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("**", "src", ["src/b.py", "src/deep", "src/deep/c.py", "src/deep/c.txt"]),
        ("*", "src", ["src/b.py", "src/deep"]),
        ("src/*.py", ".", ["src/b.py"]),
        ("src/**/c.{py,txt}", ".", ["src/deep/c.py", "src/deep/c.txt"]),
        ("./deep/?.[!t]*", "@project/src", ["src/deep/c.py"]),
        ("**/", ".", ["src", "src/deep"]),
        ("src/*/", ".", ["src/deep"]),
        ("*.PY", ".", []),
        ("[", ".", []),
    ],
)
async def test_files_are_found_by_their_path(
    call: Context, tmp_path: Path, pattern: str, path: str, expected: list[str]
) -> None:
    grow(
        tmp_path,
        **{"a.py": "", "src/b.py": "", "src/deep/c.py": "", "src/deep/c.txt": ""},
        **{"build/d.py": "", ".gitignore": "build\n"},
    )

    assert paths(await find_files(pattern, call, path)) == expected


@pytest.mark.parametrize("pattern", ["", ".", "/etc/*", "../*", "a/../b", "x" * 2_000, "{a,b}" * 9])
async def test_a_pattern_that_leads_elsewhere_is_refused(call: Context, pattern: str) -> None:
    with pytest.raises(ToolError) as caught:
        await find_files(pattern, call)

    assert caught.value.code == "E_INVALID_ARGS"


def test_a_pattern_with_many_stars_is_matched_at_once() -> None:
    assert not Glob("*a" * 200 + "b").matches("a" * 250)
    assert not Glob("**/a/" * 150 + "b").matches("a/" * 1_000 + "a")


names = st.sampled_from(["a", "b", "ab", "a.b"])


@given(parts=st.lists(names, min_size=1, max_size=5), data=st.data())
def test_a_path_fits_the_patterns_that_it_can_be_made_into(
    parts: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(parts)))
    until = data.draw(st.integers(at, len(parts)))
    path = "/".join(parts)

    assert Glob("/".join([*parts[:at], "**", *parts[until:]])).matches(path)
    assert Glob("/".join(["*"] * len(parts))).matches(path)
    assert Glob("/".join("?" * len(part) for part in parts)).matches(path)
    assert not Glob("/".join(["*"] * (len(parts) + 1))).matches(path)
    assert not Glob("/".join([*parts, "**", "z"])).matches(path)


async def test_matching_lines_come_with_their_context(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, **{"a.txt": "1\nneedle\n3\n4\r\n5 needle", "b.txt": "Needle\n"})

    found = await search_text("needle", call, context=1)

    assert found == {
        "matches": [
            {"path": "a.txt", "line": 2, "text": "needle", "before": ["1"], "after": ["3"]},
            {"path": "a.txt", "line": 5, "text": "5 needle", "before": ["4"], "after": []},
        ],
        "truncated": False,
        "unreadable": [],
    }
    both = await search_text("^needle$", call, ignore_case=True)
    assert [(m["path"], m["line"]) for m in both["matches"]] == [("a.txt", 2), ("b.txt", 1)]


async def test_the_last_line_break_starts_no_line(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, f="a\nb\n")

    found = await search_text("$", call, context=3)

    assert [match["line"] for match in found["matches"]] == [1, 2]
    assert found["matches"][0]["after"] == ["b"]


async def test_one_file_or_folder_may_be_searched(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, d__f="x", e__f="x", f="x")

    for path, expected in (("d", ["d/f"]), ("./d/f", ["d/f"]), (".", ["d/f", "e/f", "f"])):
        found = await search_text("x", call, path)
        assert [match["path"] for match in found["matches"]] == expected
    with pytest.raises(ToolError) as caught:
        await search_text("x", call, "gone")
    assert caught.value.code == "E_FILE_NOT_FOUND"


async def test_binary_ignored_and_linked_files_are_left_out(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, f="x", ignored="x", _DOT_gitignore="ignored\n", _DOT_git__config="x")
    (tmp_path / "binary").write_bytes(b"x\0")
    (tmp_path / "utf16").write_bytes("\ufeffx".encode("utf-16-le"))
    (tmp_path / "link").symlink_to("f")
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "fifo")

    found = await search_text("x", call)

    assert [match["path"] for match in found["matches"]] == ["f", "utf16"]


async def test_a_direct_search_ends_at_50_lines(direct: Context, tmp_path: Path) -> None:
    grow(tmp_path, f="xx x\n" * 50)
    whole = await search_text("x", direct)
    grow(tmp_path, g="x")
    cut = await search_text("x", direct)

    assert (len(whole["matches"]), whole["truncated"]) == (50, False)
    assert (len(cut["matches"]), cut["truncated"]) == (50, True)


async def test_many_files_are_searched(call: Context, tmp_path: Path) -> None:
    for n in range(150):
        (tmp_path / f"f{n:03}").write_text(f"x{n}\n" * 3_000)

    found = await search_text("x(7|149)$", call, context=0)

    assert {match["path"] for match in found["matches"]} == {"f007", "f149"}
    assert len(found["matches"]) == 6_000
    found = await search_text("x149$", call)
    assert {match["path"] for match in found["matches"]} == {"f149"}


async def test_a_file_whose_name_is_no_text_is_not_passed_over_in_silence(
    call: Context, tmp_path: Path
) -> None:
    grow(tmp_path, f="x")
    (tmp_path / os.fsdecode(b"bad\xff.txt")).write_text("x")
    (tmp_path / os.fsdecode(b"d\xff")).mkdir()

    found = await search_text("x", call)

    assert [match["path"] for match in found["matches"]] == ["f"]
    assert len(found["unreadable"]) == 2


async def test_a_file_too_large_to_search_is_not_passed_over_in_silence(
    call: Context, tmp_path: Path
) -> None:
    grow(tmp_path, f="x")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(64_000_001)

    found = await search_text("x", call)

    assert ([match["path"] for match in found["matches"]], found["truncated"]) == (["f"], False)
    assert found["unreadable"] == ["huge"]


async def test_a_long_line_is_whole_for_code_and_marked_where_it_is_cut(
    call: Context, direct: Context, tmp_path: Path
) -> None:
    grow(tmp_path, f="x" * 100_000)

    whole = await search_text("x", call)
    cut = await search_text("x", direct)

    assert whole["matches"][0]["text"] == "x" * 100_000
    assert cut["matches"][0]["text"] == f"{'x' * 2_000} [... 98,000 characters more ...]"


@pytest.mark.parametrize("pattern", ["(", "*", "", "a{2,1}", "x" * 2_000, "(?<=a+)b("])
async def test_a_pattern_that_is_none_is_refused(call: Context, pattern: str) -> None:
    with pytest.raises(ToolError) as caught:
        await search_text(pattern, call)

    assert caught.value.code == "E_INVALID_ARGS"


@pytest.mark.parametrize("pattern", ["(?:a{60000}){60000}", f"{'(' * 40}a{')+' * 40}"])
async def test_a_pattern_that_would_never_be_ready_is_refused(call: Context, pattern: str) -> None:
    with pytest.raises(ToolError, match="would take too long to compile") as caught:
        await search_text(pattern, call)

    assert caught.value.code == "E_INVALID_ARGS"


@pytest.mark.parametrize("context", [-1, 21])
async def test_context_has_a_limit(call: Context, context: int) -> None:
    with pytest.raises(ToolError) as caught:
        await search_text("x", call, context=context)

    assert caught.value.code == "E_INVALID_ARGS"


@pytest.mark.long
async def test_a_pattern_that_takes_too_long_is_ended(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, f="a" * 5_000 + "b")

    with pytest.raises(ToolError) as caught:
        await search_text("(a|aa)+$", call)

    assert caught.value.code == "E_TOOL_TIMEOUT"


@pytest.mark.long
async def test_a_pattern_that_needs_too_much_memory_is_named(call: Context, tmp_path: Path) -> None:
    grow(tmp_path, f="x" * 1_000)

    with pytest.raises(ToolError, match=r"'\(\?R\)\?x' needs more memory") as caught:
        await search_text("(?R)?x", call)

    assert caught.value.code == "E_TOOL_FAILED"
