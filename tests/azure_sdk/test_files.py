"""The patch of a file: one exact place, and each other case told apart."""

from pathlib import Path
from typing import Any

import pytest

from lineshaft import Session
from lineshaft_azure_sdk.files import patch_file

TEXT = "one\n  two\nthree\none more\n"


async def patched(work: Path, old: str, new: str, path: str = "a.txt") -> Any:
    async with Session([patch_file], workspace=work) as session:
        return await session.call("azure_sdk.patch_file", {"path": path, "old": old, "new": new})


@pytest.mark.parametrize(
    ("old", "new", "reason", "told"),
    [
        ("  two\n", "2\n", "patched", "was patched at line 2"),
        ("three\n", "", "patched", "line 3"),
        ("four", "4", "no_match", "is not in"),
        (" two three", "x", "no_match", "but for blanks"),
        ("one", "1", "several_matches", "2 times (lines 1, 4)"),
        ("two", "two", "no_change", "the same"),
    ],
)
async def test_a_patch_fits_at_one_place_or_changes_nothing(
    work: Path, old: str, new: str, reason: str, told: str
) -> None:
    (work / "a.txt").write_text(TEXT)
    done = await patched(work, old, new)
    assert (done.value["success"], done.value["reason"]) == (reason == "patched", reason)
    assert told in done.value["message"]
    expected = TEXT.replace(old, new) if reason == "patched" else TEXT
    assert (work / "a.txt").read_text() == expected


async def test_a_text_that_overlaps_itself_is_there_more_than_once(work: Path) -> None:
    (work / "a.txt").write_text("}\n}\n}\n")
    done = await patched(work, "}\n}\n", "}\n")
    assert done.value["reason"] == "several_matches"
    assert "2 times (lines 1, 2)" in done.value["message"]


async def test_a_text_that_is_there_very_often_is_counted_at_once(work: Path) -> None:
    (work / "a.txt").write_text("ab\n" * 300_000)
    done = await patched(work, "b", "c")
    assert "300000 times (lines 1, 2, 3," in done.value["message"]


async def test_other_files_are_told_apart(work: Path) -> None:
    (work / "b.bin").write_bytes(b"\xff\x00")
    (work / "c.txt").write_bytes(b"a\r\nb\r\nc")
    assert (await patched(work, "a", "b", "none.txt")).value["reason"] == "missing_file"
    assert (await patched(work, "a", "b", "b.bin")).value["reason"] == "not_text"
    assert (await patched(work, "a\nb", "x\ny", "c.txt")).value["success"]
    assert (work / "c.txt").read_bytes() == b"x\r\ny\r\nc"
    assert (await patched(work, "", "b", "c.txt")).error.code == "E_INVALID_ARGS"
    assert (await patched(work, "a", "b", "../out.txt")).error.code == "E_SANDBOX_VIOLATION"


async def test_line_ends_of_both_kinds_are_patched_as_they_are(work: Path) -> None:
    (work / "a.txt").write_bytes(b"a\r\nb\nc\nd\r\ne\r\n")
    assert (await patched(work, "b\nc", "x\ny")).value["success"]
    assert (await patched(work, "d\ne", "z\nw")).value["success"]
    assert (work / "a.txt").read_bytes() == b"a\r\nx\ny\nz\r\nw\r\n"


async def test_the_folder_to_read_is_not_written(work: Path, tmp_path: Path) -> None:
    from lineshaft.workspace import Folder, Mount  # noqa: PLC0415  of this test alone

    generated = tmp_path / "generated"
    generated.mkdir()
    (generated / "a.txt").write_text(TEXT)
    folder = Folder(work, aliases={"generated": Mount(generated, writable=False)})
    async with Session([patch_file], workspace=folder) as session:
        given = {"path": "@generated/a.txt", "old": "three", "new": "3"}
        done = await session.call("azure_sdk.patch_file", given)
    assert done.error is not None
    assert (generated / "a.txt").read_text() == TEXT
