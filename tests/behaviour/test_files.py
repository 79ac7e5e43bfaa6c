"""Files: where a path leads, what the tools give and take, and what happens to bytes."""

import hashlib
import os
from pathlib import Path

import pytest

from lineshaft import Context, Policy, Tool, WorkspacePath
from lineshaft.values import READ_TOGETHER, Content
from support import Make


@pytest.mark.behaviour("F26")
@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "a/../../outside.txt",
        "/etc/passwd",
        "link-out",
        "folder-out/x",
        "folder-evil/x",
        "@unknown/x",
        "@project/../outside.txt",
        "a\0b",
        "../workspace-evil/x",
        "dangling",
    ],
)
async def test_a_path_that_leads_out_is_refused_for_reads_and_writes(
    make: Make, folder: Path, path: str
) -> None:
    (folder.parent / "outside.txt").write_text("private")
    (folder.parent / "workspace-evil").mkdir()
    (folder.parent / "workspace-evil" / "x").write_text("private")
    (folder / "link-out").symlink_to(folder.parent / "outside.txt")
    (folder / "folder-out").symlink_to(folder.parent)
    (folder / "folder-evil").symlink_to("../workspace-evil")  # starts with our own name
    (folder / "dangling").symlink_to(folder.parent / "not-yet.txt")
    before = sorted(p.name for p in folder.parent.iterdir())
    async with make() as session:
        read = await session.call("read_file", {"path": path})
        write = await session.call("write_file", {"path": path, "content": "x"})
    for result in (read, write):
        assert result.error is not None
        assert result.error.code == "E_SANDBOX_VIOLATION"
        assert str(folder.parent) not in result.error.message
    assert (folder.parent / "outside.txt").read_text() == "private"
    assert sorted(p.name for p in folder.parent.iterdir()) == before


@pytest.mark.behaviour("F26")
@pytest.mark.parametrize(
    "path",
    ["secrets/k", "./x/../secrets/k", "@project/secrets/k", "link", "secrets//k", "SECRET/k"],
)
async def test_policy_sees_where_a_path_really_leads(make: Make, folder: Path, path: str) -> None:
    (folder / "secrets").mkdir()
    (folder / "x").mkdir()
    (folder / "secrets" / "k").write_text("private")
    (folder / "link").symlink_to("secrets/k")
    (folder / "SECRET").symlink_to("secrets")
    rule = {"id": "no-secrets", "tool": "*", "path": "secrets/**", "verdict": "deny"}
    async with make(policy=Policy.from_dict({"mode": "open", "rules": [rule]})) as session:
        result = await session.call("read_file", {"path": path})
    assert (result.status, result.rule) == ("refused", "no-secrets")


@pytest.mark.behaviour("F26")
@pytest.mark.parametrize("path", [".git/config", "./sub/../.git/hooks/x", ".env", "key.pem"])
async def test_built_in_rules_hold_in_every_mode(make: Make, folder: Path, path: str) -> None:
    (folder / ".git").mkdir()
    (folder / "sub").mkdir()
    for mode in ("auto", "open"):
        async with make(policy=Policy(mode=mode)) as session:
            result = await session.call("write_file", {"path": path, "content": "x"})
        assert result.error is not None
        assert result.error.code == "E_DENIED"
        assert result.rule.startswith("builtin")


@pytest.mark.behaviour("F26")
async def test_a_search_does_not_read_what_may_not_be_read(make: Make, folder: Path) -> None:
    (folder / ".env").write_text("TOKEN=needle\n")
    (folder / "secrets").mkdir()
    (folder / "secrets" / "k.txt").write_text("needle\n")
    (folder / "open.txt").write_text("needle\n")
    rule = {"id": "no-secrets", "path": "secrets/**", "verdict": "deny"}
    async with make(policy=Policy.from_dict({"mode": "auto", "rules": [rule]})) as session:
        result = await session.run("return (await search_text(pattern='needle'))['matches']")
    assert result.error is None, result.error
    assert [match["path"] for match in result.value] == ["open.txt"]


@pytest.mark.behaviour("F27")
async def test_read_gives_a_window_and_the_hash_of_the_whole(make: Make, folder: Path) -> None:
    text = "".join(f"line {i}\n" for i in range(1, 101))
    (folder / "a.txt").write_text(text)
    async with make() as session:
        window = await session.run("return await read_file(path='a.txt', start=3, end=4)")
        (folder / "big.txt").write_text("x" * 99 + "\n" * 1 + "y" * 60_000)
        big = await session.run("return await read_file(path='big.txt')")
    assert window.value == {
        "path": "a.txt",
        "content": "line 3\nline 4\n",
        "start": 3,
        "end": 4,
        "total_lines": 100,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "truncated": False,
    }
    assert big.error is None, big.error
    assert big.value["truncated"] is False
    assert len(str(big.value["content"]).encode()) == 60_100


@pytest.mark.behaviour("F27")
async def test_list_marks_hidden_files_and_links(make: Make, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / ".hidden").write_text("h")
    (folder / "link").symlink_to("sub")
    async with make() as session:
        some = await session.run("return await list_files()")
    assert some.error is None, some.error
    entries = {e["path"]: e for e in some.value["entries"]}
    assert entries[".hidden"]["hidden"] is True
    assert entries["link"]["symlink"] is True
    assert entries["sub"]["kind"] == "folder"


@pytest.mark.behaviour("F27")
async def test_find_and_search_respect_gitignore(make: Make, folder: Path) -> None:
    (folder / ".gitignore").write_text("build/\n*.log\n")
    for name in ("build/x.py", "src/a.py", "src/b.txt", "run.log"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("alpha\nNEEDLE\nomega\n")
    script = """
found = await find_files(pattern='**/*.py')
hits = await search_text(pattern='needle', context=1, ignore_case=True)
return [[e['path'] for e in found['entries']], hits['matches']]
"""
    async with make() as session:
        result = await session.run(script)
        bad = await session.call("search_text", {"pattern": "(unclosed"})
    assert result.error is None, result.error
    assert result.value[0] == ["src/a.py"]
    assert result.value[1] == [
        {"path": path, "line": 2, "text": "NEEDLE", "before": ["alpha"], "after": ["omega"]}
        for path in ("src/a.py", "src/b.txt")
    ]
    assert bad.error is not None
    assert bad.error.code == "E_INVALID_ARGS"


@pytest.mark.long
@pytest.mark.behaviour("F27")
async def test_a_search_that_would_take_for_ever_is_ended(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 5_000 + "b")
    async with make() as session:
        result = await session.call("search_text", {"pattern": "(a|aa)+$"})
    assert result.error is not None
    assert result.error.code in ("E_TOOL_TIMEOUT", "E_INVALID_ARGS")


@pytest.mark.behaviour("F27")
async def test_an_edit_keeps_encoding_line_endings_and_a_missing_last_newline(
    make: Make, folder: Path
) -> None:
    original = "\ufeffeins\r\nzwei ü\r\ndrei".encode()
    (folder / "a.txt").write_bytes(original)
    (folder / "a.txt").chmod(0o754)
    async with make() as session:
        result = await session.run(
            "return await edit_file(path='a.txt', old='zwei ü\\ndrei', new='zwei ö\\ndrei!')"
        )
        content = await session.run("return (await read_file(path='a.txt'))['content']")
    assert result.status == "success", result.error
    assert "zwei ö" in str(content.value)
    landed = (folder / "a.txt").read_bytes()
    assert landed == "\ufeffeins\r\nzwei ö\r\ndrei!".encode()
    assert (folder / "a.txt").stat().st_mode & 0o777 == 0o754


@pytest.mark.behaviour("F27")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"old": "missing", "new": "x"}, "E_PRECONDITION_FAILED"),
        ({"old": "twice", "new": "x"}, "E_PRECONDITION_FAILED"),
        ({"old": "", "new": "x"}, "E_INVALID_ARGS"),
        ({"edits": [{"old": "once", "new": "1"}, {"old": "missing", "new": "2"}]}, None),
        ({}, "E_INVALID_ARGS"),
    ],
)
async def test_an_edit_that_does_not_fit_exactly_changes_nothing(
    make: Make, folder: Path, arguments: dict[str, object], code: str | None
) -> None:
    (folder / "a.txt").write_text("once twice twice")
    async with make() as session:
        result = await session.call("edit_file", {"path": "a.txt", **arguments})
    assert result.error is not None
    assert code is None or result.error.code == code
    assert (folder / "a.txt").read_text() == "once twice twice"


@pytest.mark.behaviour("F27")
async def test_write_move_and_delete_within_their_rules(make: Make, folder: Path) -> None:
    script = """
made = await write_file(path='new/deep/a.txt', content='one\\ntwo\\n')
moved = await move_file(source='new/deep/a.txt', target='b.txt')
codes = []
for call in [
    lambda: write_file(path='b.txt', content='x', if_match='0' * 64),
    lambda: write_file(path='big.txt', content='x' * 10_000_001),
    lambda: move_file(source='b.txt', target='taken.txt'),
    lambda: delete_file(path='missing.txt'),
]:
    try:
        await call()
        codes.append('done')
    except ToolError as e:
        codes.append(e.code)
matched = await write_file(path='b.txt', content='three\\n', if_match=made['sha256'])
gone = await delete_file(path='b.txt')
return [made, moved['kind'], codes, matched['kind'], gone['kind']]
"""
    (folder / "taken.txt").write_text("mine")
    async with make(policy=Policy(mode="open")) as session:
        result = await session.run(script)
    assert result.error is None, result.error
    made, moved, codes, matched, gone = result.value
    sha256 = hashlib.sha256(b"one\ntwo\n").hexdigest()
    expected = {"path": "new/deep/a.txt", "kind": "created", "sha256": sha256}
    assert made == {**expected, "added": 2, "removed": 0}
    assert (moved, matched, gone) == ("moved", "modified", "deleted")
    assert codes == [
        "E_PRECONDITION_FAILED",
        "E_TOO_LARGE",
        "E_PRECONDITION_FAILED",
        "E_FILE_NOT_FOUND",
    ]
    assert (folder / "taken.txt").read_text() == "mine"


@pytest.mark.behaviour("F28")
async def test_a_write_over_somebody_elses_change_is_refused(make: Make, folder: Path) -> None:
    (folder / "a.txt").write_text("one")

    def meddle() -> None:
        """Change the file behind the run's back."""
        (folder / "a.txt").write_text("theirs")

    script = """
await read_file(path='a.txt')
await meddle()
try:
    await write_file(path='a.txt', content='mine')
except ToolError as e:
    return e.code
"""
    async with make(Tool.from_function(meddle, effect="read")) as session:
        result = await session.run(script)
    assert result.value == "E_STALE"
    assert (folder / "a.txt").read_text() == "theirs"


@pytest.mark.behaviour("F28")
async def test_every_changed_file_is_reported_not_only_the_last(make: Make, folder: Path) -> None:
    (folder / "old.txt").write_text("a\nb\n")
    (folder / "gone.txt").write_text("x\n")
    script = """
await write_file(path='one.txt', content='1\\n')
await write_file(path='two.txt', content='2\\n')
await write_file(path='one.txt', content='1\\n1\\n')
await edit_file(path='old.txt', old='b', new='c')
await delete_file(path='gone.txt')
await write_file(path='brief.txt', content='')
await delete_file(path='brief.txt')
"""
    async with make(policy=Policy(mode="open")) as session:
        result = await session.run(script)
    told = {change.path: change.kind for change in result.changes}
    assert told == {
        "one.txt": "created",
        "two.txt": "created",
        "old.txt": "modified",
        "gone.txt": "deleted",
    }


@pytest.mark.behaviour("F26")
async def test_a_special_file_is_never_opened(make: Make, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    async with make() as session:
        result = await session.call("read_file", {"path": "pipe"})
        found = await session.run("return (await search_text(pattern='x'))['matches']")
    assert result.error is not None
    assert found.value == []


@pytest.mark.behaviour("F26")
async def test_a_path_that_an_earlier_call_moves_is_not_what_policy_judged(
    make: Make, folder: Path
) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("of git")
    (folder / "old").symlink_to(".git")
    script = """
async def code(call):
    try:
        await call
    except ToolError as e:
        return e.code
moved = code(move_file(source="old", target="new"))
later = [read_file(path="new/config"), write_file(path="new/hooks", content="x"),
         find_files(pattern="*", path="new")]
return await asyncio.gather(moved, *[code(call) for call in later])
"""
    async with make(policy=Policy(mode="open")) as session:
        result = await session.run(script)
    assert result.value == [None, "E_STALE", "E_STALE", "E_STALE"]
    assert [each.name for each in (folder / ".git").iterdir()] == ["config"]


@pytest.mark.behaviour("F26")
async def test_a_path_that_is_swapped_while_its_call_runs_is_judged_again(
    make: Make, folder: Path
) -> None:
    (folder / ".env").write_text("KEY=1")
    (folder / "plain.txt").write_text("plain")

    async def swaps(path: WorkspacePath, context: Context) -> str:
        """Read what somebody else puts there.

        Args:
            path: The file.
            context: The call.
        """
        (folder / path).unlink()
        (folder / path).symlink_to(".env")
        return (await context.workspace.read(path)).data.decode()

    async with make(Tool.from_function(swaps, effect="read")) as session:
        done = await session.call("swaps", {"path": "plain.txt"})
    assert done.error is not None
    assert done.error.code == "E_DENIED"


@pytest.mark.behaviour("F26")
async def test_of_many_files_those_are_refused_that_policy_hides(make: Make, folder: Path) -> None:
    grow = {"a": "1", ".env": "KEY=1", "b": "x" * READ_TOGETHER, "c": "3", "d": "4"}
    for name, text in grow.items():
        (folder / name).write_text(text)

    async def looks(context: Context) -> list[object]:
        """Read them.

        Args:
            context: The call.
        """
        found = await context.workspace.read_many([".env", "a", "none", "b", ".env", "c", "d"])
        return [len(each.data) if isinstance(each, Content) else each.code for each in found]

    async with make(Tool.from_function(looks, effect="read")) as session:
        done = await session.call("looks", {})
    assert done.value == ["E_DENIED", 1, "E_FILE_NOT_FOUND", READ_TOGETHER, "E_DENIED"]
