"""Reading, writing, editing, moving and deleting files as a script does."""

import codecs
import hashlib
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.errors import ToolError
from lineshaft.kit import delete_file, edit_file, move_file, read_file, search_text, write_file
from lineshaft.kit._files import Edit
from lineshaft.kit._replacing import replaced
from lineshaft.values import Context, decoded_text, lines_of
from lineshaft.workspace import Folder
from lineshaft.workspace.disk.access import MOST_BYTES


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def failing(awaitable: Awaitable[object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await awaitable
    return caught.value


async def test_a_whole_file_is_read(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"one\r\ntwo\nthree")

    assert await read_file("./f", call) == {
        "path": "f",
        "content": "one\r\ntwo\nthree",
        "start": 1,
        "end": 3,
        "total_lines": 3,
        "sha256": sha(b"one\r\ntwo\nthree"),
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("start", "end", "content", "last"),
    [
        (1, 1, "1\n", 1),
        (2, 3, "2\n3\n", 3),
        (5, None, "5\n", 5),
        (4, 99, "4\n5\n", 5),
        (6, None, "", 5),
        (100, 200, "", 99),
    ],
)
async def test_a_window_includes_both_its_lines(
    call: Context, tmp_path: Path, start: int, end: int | None, content: str, last: int
) -> None:
    (tmp_path / "f").write_text("1\n2\n3\n4\n5\n")

    window = await read_file("f", call, start, end)

    assert (window["content"], window["start"], window["end"]) == (content, start, last)
    assert (window["total_lines"], window["truncated"]) == (5, False)


@pytest.mark.parametrize(("start", "end"), [(0, None), (-1, None), (3, 2)])
async def test_a_window_that_cannot_be_is_refused(
    call: Context, start: int, end: int | None
) -> None:
    assert (await failing(read_file("f", call, start, end))).code == "E_INVALID_ARGS"


async def test_an_empty_file_has_no_lines(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").touch()

    window = await read_file("f", call)

    assert (window["content"], window["end"], window["total_lines"]) == ("", 0, 0)


async def test_long_files_come_in_parts_of_whole_lines(direct: Context, tmp_path: Path) -> None:
    text = "".join(f"{n:06}é\n" for n in range(20_000))
    (tmp_path / "f").write_text(text, encoding="utf-8")
    parts: list[str] = []
    start = 1
    while True:
        part = await read_file("f", direct, start)
        assert len(part["content"].encode()) <= 50_000
        parts.append(part["content"])
        if not part["truncated"]:
            break
        start = part["end"] + 1

    assert "".join(parts) == text
    assert len(parts) > 3


async def test_a_line_longer_than_a_part_is_cut_between_characters(
    direct: Context, tmp_path: Path
) -> None:
    (tmp_path / "f").write_text("a" + "é" * 40_000 + "\nb", encoding="utf-8")

    part = await read_file("f", direct)

    assert part["content"] == "a" + "é" * 24_999
    assert (part["end"], part["truncated"]) == (1, True)
    assert (await read_file("f", direct, 2))["content"] == "b"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (codecs.BOM_UTF8 + "ä".encode(), "ä"),
        (codecs.BOM_UTF16_LE + "ä\n".encode("utf-16-le"), "ä\n"),
        (codecs.BOM_UTF16_BE + "ä\n".encode("utf-16-be"), "ä\n"),
        (codecs.BOM_UTF32_LE + "ä".encode("utf-32-le"), "ä"),
        ("ä".encode("latin-1"), "ä"),
    ],
)
async def test_other_encodings_are_read(
    call: Context, tmp_path: Path, data: bytes, text: str
) -> None:
    (tmp_path / "f").write_bytes(data)

    assert (await read_file("f", call))["content"] == text


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (codecs.BOM_UTF8 + b"a", "\ufeffb", codecs.BOM_UTF8 + b"b"),
        ("\ufeffa".encode("utf-16-le"), "\ufeffb", "\ufeffb".encode("utf-16-le")),
        (codecs.BOM_UTF8 * 2 + b"a", "\ufeffa", codecs.BOM_UTF8 * 2 + b"a"),
        (b"a", "\ufeffb", codecs.BOM_UTF8 + b"b"),
        (b"", "\ufeffb", codecs.BOM_UTF8 + b"b"),
    ],
)
async def test_a_text_with_a_mark_of_its_own_is_written_with_one(
    call: Context, tmp_path: Path, before: bytes, text: str, after: bytes
) -> None:
    (tmp_path / "f").write_bytes(before)

    await write_file("f", text, call)

    assert (tmp_path / "f").read_bytes() == after


@pytest.mark.parametrize("data", [b"a\0b", codecs.BOM_UTF16_LE + b"\0"])
async def test_a_binary_file_is_no_text(call: Context, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)

    error = await failing(read_file("f", call))

    assert (error.code, "not a text file" in error.message) == ("E_TOOL_FAILED", True)


@pytest.mark.parametrize(
    ("path", "code"),
    [("gone", "E_FILE_NOT_FOUND"), ("../x", "E_SANDBOX_VIOLATION"), (".", "E_TOOL_FAILED")],
)
async def test_what_the_workspace_refuses_keeps_its_code(
    call: Context, path: str, code: str
) -> None:
    assert (await failing(read_file(path, call))).code == code


async def test_a_write_tells_what_it_did(call: Context, tmp_path: Path) -> None:
    made = await write_file("a/b", "ä\n", call)

    assert made == {
        "path": "a/b",
        "kind": "created",
        "sha256": sha("ä\n".encode()),
        "added": 1,
        "removed": 0,
    }
    assert (tmp_path / "a/b").read_bytes() == "ä\n".encode()


async def test_a_write_has_a_limit_in_bytes(direct: Context, tmp_path: Path) -> None:
    await write_file("f", "é" * 50_000, direct)

    error = await failing(write_file("f", "é" * 50_000 + "x", direct))

    assert (error.code, "100,001" in error.message) == ("E_TOO_LARGE", True)
    assert (tmp_path / "f").stat().st_size == 100_000


async def test_a_write_may_ask_for_what_was_read(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    seen = await read_file("f", call)

    assert (await failing(write_file("f", "x", call, "0" * 64))).code == "E_PRECONDITION_FAILED"
    await write_file("f", "new", call, seen["sha256"])

    assert (tmp_path / "f").read_text() == "new"


async def test_what_no_sha256_could_be_is_told_where_one_comes_from(call: Context) -> None:
    error = await failing(write_file("f", "text", call, if_match="w"))

    assert error.code == "E_PRECONDITION_FAILED"
    assert "the `sha256` of `read_file`" in error.hint


async def test_a_pattern_for_a_path_is_told_what_finds_files(call: Context) -> None:
    for tool in (read_file("src/*.py", call), search_text("x", call, "**/*.py")):
        error = await failing(tool)
        assert error.code == "E_FILE_NOT_FOUND"
        assert error.hint == "A path is no pattern: `find_files` finds files by one."
    assert (await failing(read_file("src/a.py", call))).hint == ""


async def test_text_that_cannot_be_written_is_refused(call: Context) -> None:
    assert (await failing(write_file("f", "\ud800", call))).code == "E_INVALID_ARGS"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"one two", "two", "2", b"one 2"),
        (b"one two", "one ", "", b"two"),
        (b"a\r\nb\r\nc", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\nc"),
        (b"a\r\nb\r\nc\n", "b\nc\n", "d\n", b"a\r\nd\r\n"),
        (b"a\nb\nc\r\n", "a\nb", "x\ny", b"x\ny\nc\r\n"),
        (b"a\r\nb", "\nb", "\nc", b"a\r\nc"),
        (b"a\r\nb\r\n", "a\r\n", "a\n", b"a\nb\r\n"),
        (codecs.BOM_UTF8 + b"a\r\nb", "b", "c\n", codecs.BOM_UTF8 + b"a\r\nc\r\n"),
        ("grün\nrot".encode("latin-1"), "rot", "größer", "grün\ngrößer".encode("latin-1")),
        ("\ufeffä\r\n".encode("utf-16-le"), "ä", "€", "\ufeff€\r\n".encode("utf-16-le")),
        (b"no last newline", "newline", "break", b"no last break"),
        (b"f(x) + [1]", "f(x) + [1]", r"\1 \g<0>", rb"\1 \g<0>"),
    ],
)
async def test_an_edit_changes_nothing_but_what_it_names(
    call: Context, tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (tmp_path / "f").write_bytes(before)

    await edit_file("f", call, old, new)

    assert (tmp_path / "f").read_bytes() == after


@pytest.mark.parametrize(
    ("old", "code", "words"),
    [
        ("three", "E_PRECONDITION_FAILED", "is not in the file"),
        ("two", "E_PRECONDITION_FAILED", "2 times"),
        ("ana", "E_PRECONDITION_FAILED", "2 times"),
        ("", "E_INVALID_ARGS", "is empty"),
        ("x", "E_INVALID_ARGS", "the same"),
    ],
)
async def test_an_edit_that_does_not_fit_once_is_refused(
    call: Context, tmp_path: Path, old: str, code: str, words: str
) -> None:
    (tmp_path / "f").write_text("two two banana x")

    error = await failing(edit_file("f", call, old, "x"))

    assert error.code == code
    assert words in error.message
    assert (tmp_path / "f").read_text() == "two two banana x"


async def test_all_places_are_replaced_where_asked(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b a\nb a")

    made = await edit_file("f", call, "a", "c", replace_all=True)

    assert (tmp_path / "f").read_text() == "c b c\nb c"
    assert (made["added"], made["removed"]) == (2, 2)


async def test_several_edits_are_made_in_order_or_not_at_all(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a b c")

    error = await failing(
        edit_file("f", call, edits=[{"old": "a", "new": "x"}, {"old": "gone", "new": ""}])
    )
    assert "edits[1]" in error.message
    assert (tmp_path / "f").read_text() == "a b c"
    await edit_file("f", call, edits=[{"old": "a", "new": "x"}, {"old": "x b", "new": "y"}])

    assert (tmp_path / "f").read_text() == "y c"


async def test_an_edit_has_one_form(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a")

    for edit in (
        edit_file("f", call),
        edit_file("f", call, old="a"),
        edit_file("f", call, new="a"),
        edit_file("f", call, edits=[]),
        edit_file("f", call, "a", "b", edits=[{"old": "a", "new": "b"}]),
    ):
        assert (await failing(edit)).code == "E_INVALID_ARGS"
    assert (tmp_path / "f").read_text() == "a"


async def test_a_character_that_the_encoding_lacks_is_named(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("grün".encode("latin-1"))

    error = await failing(edit_file("f", call, "gr", "€"))

    assert (error.code, "'€'" in error.message) == ("E_INVALID_ARGS", True)


async def test_an_edit_of_what_somebody_changed_is_stale(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a")
    await read_file("f", call)
    (tmp_path / "f").write_text("a, theirs")

    error = await failing(edit_file("f", call, "a", "b"))

    assert error.code == "E_STALE"
    assert (tmp_path / "f").read_text() == "a, theirs"


async def test_moves_and_deletes_tell_what_they_did(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n")
    (tmp_path / "taken").touch()

    assert (await failing(move_file("f", "taken", call))).code == "E_PRECONDITION_FAILED"
    moved = await move_file("f", "d/g", call)
    gone = await delete_file("d/g", call)

    assert (moved["path"], moved["kind"], moved["sha256"]) == ("d/g", "moved", sha(b"x\n"))
    assert gone == {"path": "d/g", "kind": "deleted", "sha256": None, "added": 0, "removed": 1}
    assert (await failing(delete_file("d/g", call))).code == "E_FILE_NOT_FOUND"


@given(st.binary(max_size=60))
def test_text_comes_back_as_the_same_bytes(data: bytes) -> None:
    text = decoded_text(data)

    if text is not None:
        assert text.encoded(text.text) == data
        assert "".join(lines_of(text.text)) == text.text


pieces = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r", "."]), max_size=8).map("".join)


@given(before=pieces, after=pieces, old=pieces.filter(bool), new=pieces)
def test_text_around_a_replacement_stays(before: str, after: str, old: str, new: str) -> None:
    text = before + old + after
    try:
        result = replaced(text, old, new, every=False, name="f", most=100)
    except ToolError:
        return

    if "\r" in old + new:
        assert result == before + new + after
    else:
        assert result.replace("\r", "") == text.replace("\r", "").replace(old, new, 1)


@given(text=pieces, old=pieces.filter(bool), new=pieces)
def test_all_places_are_replaced_in_any_line_breaks(text: str, old: str, new: str) -> None:
    try:
        result = replaced(text, old, new, every=True, name="f", most=10_000)
    except ToolError:
        return

    if "\r" in old + new:
        assert result == text.replace(old, new)
    else:
        assert result.replace("\r\n", "\n") == text.replace("\r\n", "\n").replace(old, new)


@pytest.mark.parametrize("line_break", ["", "\n", "\r\n"])
async def test_edits_that_multiply_a_text_end_before_they_fill_the_memory(
    line_break: str, call: Context, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(f"x{line_break}".encode() * 1_000)
    before = (tmp_path / "f").read_bytes()
    old = line_break.replace("\r", "") or "x"

    error = await failing(
        edit_file("f", call, edits=[Edit(old=old, new=old * 1_000)] * 6, replace_all=True)
    )

    assert (error.code, "edits[1]" in error.message) == ("E_TOO_LARGE", True)
    assert (tmp_path / "f").read_bytes() == before


async def test_large_edits_end_with_the_time_of_their_call(call: Context, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\n" * 2_000_000)
    before = (tmp_path / "f").stat()
    there, back = Edit(old="a\n", new="b\n"), Edit(old="b\n", new="a\n")

    with anyio.move_on_after(1) as bound:
        await edit_file("f", call, edits=[there, back] * 100_000, replace_all=True)

    assert bound.cancelled_caught
    assert (tmp_path / "f").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("old", ["a" * 400_000 + "b", "a" * 400])
async def test_an_edit_takes_time_in_proportion_to_the_file(
    old: str, call: Context, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text("a" * 1_000_000)
    with pytest.raises(ToolError) as caught:
        await edit_file("long.txt", call, old, "c")
    assert caught.value.code == "E_PRECONDITION_FAILED"


async def test_a_file_that_is_too_large_to_be_read_is_replaced_and_comes_back(
    call: Context, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / "f").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    folder = Folder(tmp_path / "work", journals=tmp_path / "journals")
    view = folder.begin("run", atomic=True)

    await write_file("f", "small", replace(call, workspace=view))
    await view.land()

    assert (tmp_path / "work" / "f").read_text() == "small"
    await folder.undo("run")
    assert (tmp_path / "work" / "f").stat().st_size == MOST_BYTES + 1
