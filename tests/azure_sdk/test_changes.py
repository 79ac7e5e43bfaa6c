"""What a run has changed, as the checks of agents see it."""

from pathlib import Path
from typing import Any

from lineshaft import Policy, Session, Tool, kit
from lineshaft.policy import Rule
from lineshaft.values import Context
from lineshaft_azure_sdk.changes import changed_files


async def changes(call: Context) -> dict[str, Any]:
    """Return the contents before and after, by path."""
    found = await changed_files(call)
    return {
        path: [None if data is None else data.decode() for data in (each.before, each.after)]
        for path, each in found.items()
    }


async def seen(work: Path, script: str, *rules: Rule) -> Any:
    tool = Tool.from_function(changes, effect="read", needs_disk=False)
    policy = Policy(mode="open", rules=rules)
    async with Session([tool, kit.tools()], workspace=work, policy=policy) as session:
        done = await session.run(f"{script}\nreturn await changes()")
    assert done.status == "success", done.error
    return done.value


async def test_both_contents_are_told_of_what_was_made_changed_moved_and_deleted(
    work: Path,
) -> None:
    for name in ("changed", "gone", "moved", "same", "folder/in"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(name)
    found = await seen(
        work,
        """
await write_file("changed", "new")
await write_file("same", "other")
await write_file("same", "same")
await write_file("node_modules/made", "x")
await delete_file("gone")
await move_file("moved", "to")
await move_file("folder", "other")
""",
    )
    assert found == {
        "changed": ["changed", "new"],
        "node_modules/made": [None, "x"],
        "gone": ["gone", None],
        "moved": ["moved", None],
        "to": [None, "moved"],
        "folder/in": ["folder/in", None],
        "other/in": [None, "folder/in"],
    }


async def test_no_symlink_is_followed_to_what_was_before(work: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("OUTSIDE")
    (work / ".env").write_text("HIDDEN")
    (work / "target").write_text("target")
    (work / "out").symlink_to("../outside")
    (work / "env").symlink_to(".env")
    (work / "in").symlink_to("target")
    (work / "kept").symlink_to("target")
    found = await seen(
        work,
        """
for name in ("out", "env", "in"):
    await delete_file(name)
await write_file("out", "new")
await write_file("env", "new")
""",
    )
    assert found == {"out": [None, "new"], "env": [None, "new"], "in": [None, None]}


async def test_of_what_policy_hides_only_the_change_is_told(work: Path) -> None:
    (work / "private").mkdir()
    (work / "private" / "key").write_text("HIDDEN")
    rule = Rule("p", "deny", tool=("read_file", "changes"), path="private/**")
    script = 'await write_file("private/key", "new")\nawait write_file("private/more", "new")'
    found = await seen(work, script, rule)
    assert found == {"private/key": [None, None], "private/more": [None, None]}


async def test_a_file_that_was_changed_from_outside_or_is_too_large_is_told(work: Path) -> None:
    (work / "a").write_text("a")

    async def outside() -> None:
        """Change a file past the workspace."""
        (work / "a").write_text("from outside")

    tools = [
        Tool.from_function(changes, effect="read", needs_disk=False),
        Tool.from_function(outside, effect="read"),
    ]
    async with Session([*tools, kit.tools()], workspace=work, policy=Policy("open")) as session:
        large = await session.run('await write_file("b", "x" * 2_000_001)\nawait changes()')
        assert large.error is not None
        assert "'b' is too large to be checked" in large.error.message
        stale = await session.run('await write_file("a", "b")\nawait outside()\nawait changes()')
    assert stale.error is not None
    assert stale.error.code == "E_STALE"
    assert not (work / "b").exists()
