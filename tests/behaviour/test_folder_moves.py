"""A call that moves or deletes a folder is judged for all that lies below it, under both names."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lineshaft import Answer, Pending, Policy, Session
from lineshaft.values import CallResult
from support import Make

pytestmark = pytest.mark.behaviour("F26")


def grow(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("private\n")


async def move(session: Session, source: str, target: str) -> CallResult:
    return await session.call("move_file", {"source": source, "target": target})


def code(result: CallResult) -> str | None:
    return None if result.error is None else result.error.code


@pytest.mark.parametrize(
    ("file", "source", "target"),
    [
        (".docker/config.json", ".docker", "d1"),
        ("a/.docker/config.json", "a", "b"),
        ("plain/config.json", "plain", ".docker"),
        ("plain/.docker/config.json", "plain", "other"),
        ("plain/x/.env", "plain", "other"),
        ("repo/.git/config", "repo", "other"),
        ("plain/hooks/x", "plain", "b/.git"),
    ],
)
@pytest.mark.parametrize("atomic", [True, False])
async def test_a_folder_is_not_moved_past_the_built_in_rules(
    make: Make, folder: Path, file: str, source: str, target: str, atomic: bool
) -> None:
    grow(folder, file)
    async with make(policy=Policy(mode="open"), atomic=atomic) as session:
        result = await move(session, source, target)
        run = await session.run(f"await move_file(source={source!r}, target={target!r})")
    assert (code(result), run.status) == ("E_DENIED", "error")
    assert (folder / file).read_text() == "private\n"
    assert not (folder / target).exists()


@pytest.mark.parametrize("pattern", ["**/secrets/**", "*.sec", "a/**/deep/*"])
@pytest.mark.parametrize("back", [False, True])
async def test_a_folder_is_not_moved_past_a_rule_of_the_users_own(
    make: Make, folder: Path, pattern: str, back: bool
) -> None:
    inner = {"**/secrets/**": "secrets/k", "*.sec": "k.sec", "a/**/deep/*": "deep/k"}[pattern]
    source, target = ("elsewhere/x", "a/x") if back else ("a/x", "elsewhere")
    grow(folder, f"{source}/{inner}", f"{source}/harmless")
    rule = {"id": "own", "path": pattern, "verdict": "deny", "effect": "write"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with make(policy=policy) as session:
        result = await move(session, source, target)
    assert result.error is not None
    assert (result.error.code, result.rule) == ("E_DENIED", "own")
    assert inner in result.error.message
    assert "harmless" not in result.error.message
    assert (folder / source / inner).exists()


async def test_the_refusal_names_the_first_five(make: Make, folder: Path) -> None:
    grow(folder, *(f"a/{i}/.env" for i in range(8)))
    async with make(policy=Policy(mode="open")) as session:
        result = await move(session, "a", "b")
    assert result.error is not None
    assert "'a/0/.env', 'b/0/.env', 'a/1/.env', 'b/1/.env', 'a/2/.env' and 11 more" in (
        result.error.message
    )


async def test_a_folder_with_tool_configuration_asks_and_a_harmless_one_does_not(
    make: Make, folder: Path
) -> None:
    grow(folder, "a/.vscode/settings.json", "b/x")
    asked: list[str] = []

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        asked.extend(each.reason for each in pending)
        return {each.id: Answer(allow=True) for each in pending}

    async with make(approver=approver) as session:
        results = [await move(session, "b", "b2"), await move(session, "a", "a2")]
    assert [code(result) for result in results] == [None, None]
    assert len(asked) == 1
    assert "'a/.vscode', 'a2/.vscode', 'a/.vscode/settings.json'" in asked[0]
    assert (folder / "a2/.vscode/settings.json").exists()


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_file_that_is_put_into_the_folder_while_a_person_decides_stays(
    make: Make, folder: Path, atomic: bool
) -> None:
    grow(folder, "a/x")
    rule = {"id": "moves", "tool": "move_file", "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        grow(folder, "a/.env")
        return {each.id: Answer(allow=True) for each in pending}

    async with make(policy=policy, approver=approver, atomic=atomic) as session:
        result = await move(session, "a", "b")
    assert result.error is not None
    assert result.error.code == "E_DENIED"
    assert "'a/.env', 'b/.env'" in result.error.message
    assert (folder / "a/.env").exists()
    assert not (folder / "b").exists()


@pytest.mark.parametrize(("name", "moves"), [(".mcp.json", False), ("harmless", True)])
async def test_what_would_be_asked_about_is_not_taken_along_unasked(
    make: Make, folder: Path, name: str, moves: bool
) -> None:
    grow(folder, "a/x")
    rule = {"id": "moves", "tool": "move_file", "verdict": "ask"}

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        grow(folder, f"a/{name}")
        return {each.id: Answer(allow=True) for each in pending}

    async with make(policy=Policy.from_dict({"rules": [rule]}), approver=approver) as session:
        result = await move(session, "a", "b")
    assert code(result) == (None if moves else "E_DENIED")
    assert (folder / "b" / name).exists() == moves


async def test_a_folder_of_more_than_10000_paths_is_too_large_to_judge(
    make: Make, folder: Path
) -> None:
    (folder / "a").mkdir()
    for i in range(10_001):
        (folder / "a" / str(i)).touch()
    async with make(policy=Policy(mode="open")) as session:
        result = await move(session, "a", "b")
    assert result.error is not None
    assert (result.error.code, "10,000" in result.error.message) == ("E_TOO_LARGE", True)
    assert not (folder / "b").exists()


async def test_a_folder_of_just_as_many_paths_is_judged(
    make: Make, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.gate._subtree.MOST_PATHS", 3)  # 10,000 take most of a minute
    grow(folder, "a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "b/4")
    async with make(policy=Policy(mode="open")) as session:
        ends = [code(await move(session, name, f"{name} moved")) for name in ("a", "b")]
    assert ends == [None, "E_TOO_LARGE"]


async def test_a_link_within_a_folder_is_moved_and_not_followed(make: Make, folder: Path) -> None:
    grow(folder, ".env", "a/x")
    (folder / "a" / "link").symlink_to("../.env")
    async with make(policy=Policy(mode="open")) as session:
        result = await move(session, "a", "b")
    assert code(result) is None
    assert (folder / "b" / "link").is_symlink()


@pytest.mark.parametrize(
    "path",
    [
        ".g\u200cit/config",
        ".\u200dgi\ufefft/config",
        ".git./config",
        ".git /config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        ".docker/config.json.",
        ".docker/CONFIG~1.JSO",
        "DOCKER~1/config.json",
        "ENV~1",
        ".env::$DATA",
        "ID_RSA~1",
    ],
)
async def test_spellings_that_macos_and_windows_take_for_a_closed_path_are_closed(
    make: Make, folder: Path, path: str
) -> None:
    async with make(policy=Policy(mode="open")) as session:
        result = await session.call("write_file", {"path": path, "content": "x"})
        plain = await session.call("write_file", {"path": "a~b/it: ok", "content": "x"})
    assert (code(result), code(plain)) == ("E_DENIED", None)
    assert not (folder / path).exists()


async def test_a_deny_rule_of_a_users_own_holds_for_other_spellings_too(
    make: Make, folder: Path
) -> None:
    rule = {"id": "own", "path": "Confidential/**", "verdict": "deny"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with make(policy=policy) as session:
        results = [
            await session.call("write_file", {"path": path, "content": "x"})
            for path in ("CONFID~1/x", "confidential./x", "con\u200cfidential/x", "CONFIX/x")
        ]
    assert [code(result) for result in results] == ["E_DENIED", "E_DENIED", "E_DENIED", None]
