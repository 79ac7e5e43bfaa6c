"""Whole for code, marked where it is cut: no script shortens a file or passes over one unseen."""

import codecs
import json
from pathlib import Path
from typing import Any, cast

import pytest

from lineshaft import Context, Policy, Tool
from lineshaft.values import Call, Value
from support import Make

pytestmark = pytest.mark.behaviour("F27")

CHANGE = """
a = await read_file(path="big.txt")
await write_file(path="big.txt", content=a["content"].replace("line 7\\n", "seven\\n"))
"""


async def test_a_script_that_reads_changes_and_writes_back_keeps_every_line(
    make: Make, folder: Path
) -> None:
    text = "".join(f"line {i}\n" for i in range(9_000))
    (folder / "big.txt").write_text(text)
    async with make() as session:
        result = await session.run(CHANGE)
    assert (result.status, result.findings) == ("success", ())
    assert (folder / "big.txt").read_text() == text.replace("line 7\n", "seven\n")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"", "latin-1"), (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")],
)
async def test_a_file_keeps_its_encoding_and_its_mark(
    make: Make, folder: Path, mark: bytes, encoding: str
) -> None:
    (folder / "big.txt").write_bytes(mark + "café\r\nline 7\n".encode(encoding))
    async with make() as session:
        result = await session.run(CHANGE)
    assert result.error is None, result.error
    written = (folder / "big.txt").read_bytes()
    assert written == mark + "café\r\nseven\n".encode(encoding)


async def test_a_text_that_the_files_encoding_lacks_is_refused(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_bytes("café".encode("latin-1"))
    script = "await write_file(path='a.txt', content='10 €')"
    async with make() as session:
        result = await session.run(script)
        anew = await session.run(f"await delete_file(path='a.txt')\n{script}")
    assert result.error is not None
    assert result.error.code == "E_INVALID_ARGS"
    assert "latin-1, which has no '€'" in result.error.message
    assert "delete" in (result.error.hint or "")
    assert anew.status in ("success", "paused")


async def test_lists_and_matches_are_whole_in_a_script(make: Make, folder: Path) -> None:
    for i in range(320):
        (folder / f"{i:03}.py").write_text("import old\n")
    script = """
listed = await list_files()
found = await find_files(pattern="*.py")
for match in (await search_text(pattern="import old"))["matches"]:
    await edit_file(path=match["path"], old="old", new="new")
return [len(listed["entries"]), listed["truncated"], len(found["entries"]), found["truncated"]]
"""
    async with make() as session:
        result = await session.run(script)
        called = await session.call("find_files", {"pattern": "*.py"})
    assert result.error is None, result.error
    assert result.value == [320, False, 320, False]
    assert {path.read_text() for path in folder.glob("*.py")} == {"import new\n"}
    assert called.error is None
    assert len(cast("dict[str, list[object]]", called.value)["entries"]) == 320


async def test_a_models_direct_call_is_cut_and_says_so(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("needle\n" * 9_000)
    for i in range(320):
        (folder / f"{i:03}.py").touch()
    cut: dict[str, Any] = {}
    async with make() as session:
        for name, arguments in (
            ("read_file", {"path": "a.txt"}),
            ("list_files", {}),
            ("find_files", {"pattern": "*.py"}),
            ("search_text", {"pattern": "needle"}),
        ):
            handled = await session.handle(name, arguments)
            cut[name] = handled.structured
    assert [one["truncated"] for one in cut.values()] == [True] * 4
    text = json.dumps(cut)
    assert (text.count("needle"), text.count(".py")) == (7_142 + 50, 200 + 200)


async def test_what_is_too_large_for_a_script_is_an_error_that_says_how_to_go_on(
    make: Make, folder: Path
) -> None:
    (folder / "huge.txt").write_text("0123456789abcde\n" * 700_000)
    script = """
try:
    await read_file(path="huge.txt")
except ToolError as e:
    part = await read_file(path="huge.txt", start=699_999)
    return [e.code, "11,200,000" in e.message, part["content"]]
"""
    async with make() as session:
        result = await session.run(script)
    assert result.error is None, result.error
    assert result.value == ["E_TOO_LARGE", True, "0123456789abcde\n" * 2]


async def test_files_that_cannot_be_read_are_named(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("needle")
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(64_000_001)
    async with make() as session:
        result = await session.run("return await search_text(pattern='needle')")
    assert result.error is None, result.error
    assert [match["path"] for match in result.value["matches"]] == ["a.txt"]
    assert (result.value["unreadable"], result.value["truncated"]) == (["sparse.bin"], False)
    async with make() as session:
        read = await session.call("read_file", {"path": "sparse.bin"})
    assert read.error is not None
    assert (read.error.code, "piece by piece" in read.error.hint) == ("E_TOO_LARGE", True)


async def test_a_tool_that_calls_another_is_given_all_of_it(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("x\n" * 40_000)

    async def count(call: Context) -> int:
        """Count the lines of a file."""
        inner = Call(tool="read_file", arguments={"path": "a.txt"}, origin="code")
        done = await call.dispatch(inner)
        assert isinstance(done, Value)
        return cast("dict[str, str]", done.value)["content"].count("\n")

    counting = Tool.from_function(count, effect="read", container=True)
    async with make(counting, policy=Policy(mode="open")) as session:
        handled = await session.handle("count", {})
    assert (handled.text, handled.is_error) == ("40000", False)
