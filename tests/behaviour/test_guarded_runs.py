"""Guards look at what a run is about to land, all of it together."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft import Finding, Policy, Session, kit
from lineshaft.values import Change, Stage
from lineshaft.workspace import Companion, Secrets, Syntax

pytestmark = pytest.mark.behaviour("F29")

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2"


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "good.py").write_text("x = 1\n")
    (folder / "old.py").write_text("def broken(:\n")
    return folder


SCRIPT = """
await write_file(path="a.txt", content="fine")
await edit_file(path="good.py", old="x = 1", new="x = (")
await write_file(path="b.json", content="{}")
return "value"
"""


async def test_a_finding_keeps_the_whole_run_from_landing(folder: Path) -> None:
    before = files(folder)
    async with Session(kit.tools(), workspace=folder, store=False) as session:
        result = await session.run(SCRIPT)
    assert (result.status, result.error and result.error.code) == ("error", "E_GUARD")
    assert (result.value, result.landed) == ("value", False)
    (finding,) = result.findings
    assert (finding.path, finding.level, finding.code) == ("good.py", "error", "syntax")
    assert files(folder) == before


async def test_a_finding_is_raised_at_the_call_that_needs_the_disk(folder: Path) -> None:
    script = """
await write_file(path="x.py", content="def f(:")
try:
    await run_command(command="ls")
except ToolError as error:
    await write_file(path="x.py", content="def f(): ...")
    return [error.code, (await run_command(command="ls", args=["x.py"]))["stdout"]]
"""
    policy = Policy(mode="open")
    async with Session(kit.tools(), workspace=folder, policy=policy, store=False) as session:
        result = await session.run(script)
    assert (result.status, result.value) == ("success", ["E_GUARD", "x.py\n"])
    assert (folder / "x.py").read_text() == "def f(): ..."


async def test_what_was_broken_before_is_a_warning_in_the_result(folder: Path) -> None:
    script = 'await write_file(path="old.py", content="def still(:\\n")'
    async with Session(kit.tools(), workspace=folder, store=False) as session:
        result = await session.run(script)
    assert result.status == "success"
    assert [(f.path, f.level) for f in result.findings] == [("old.py", "warning")]
    assert (folder / "old.py").read_text() == "def still(:\n"


async def test_a_secret_is_not_in_the_result_either(folder: Path) -> None:
    script = f"await write_file(path='a.py', content='key = \"{TOKEN}\"\\n')"
    async with Session(kit.tools(), workspace=folder, store=False) as session:
        result = await session.run(script)
    assert result.error is not None
    assert result.error.code == "E_GUARD"
    assert TOKEN not in result.json()
    assert "a.py" not in files(folder)


async def test_own_guards_and_rules_about_files_that_belong_together(folder: Path) -> None:
    seen: list[list[str]] = []

    async def watch(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        seen.append([change.path for change in changes])
        assert (await stage.read("src/a.py")).data == b"y = 2\n"
        assert await stage.before("src/a.py") is None
        return [Finding(code="note", message="seen", level="info")]

    rule = Companion(changed="src/**", needs="tests/**")
    script = 'await write_file(path="src/a.py", content="y = 2\\n")'
    more = '\nawait write_file(path="tests/test_a.py", content="")'
    async with Session(kit.tools(), workspace=folder, guards=[rule, watch], store=False) as session:
        alone = await session.run(script)
        together = await session.run(script + more)
    assert [finding.code for finding in alone.findings] == ["companion", "note"]
    assert (together.status, [f.code for f in together.findings]) == ("success", ["note"])
    assert seen == [["src/a.py"], ["src/a.py", "tests/test_a.py"]]


async def test_built_in_guards_may_be_lowered_or_left_out(folder: Path) -> None:
    guards = [Syntax(level="warning"), Secrets(level="off")]
    async with Session(kit.tools(), workspace=folder, guards=guards, store=False) as session:
        result = await session.run(SCRIPT)
    assert (result.status, [f.level for f in result.findings]) == ("success", ["warning"])
    async with Session(kit.tools(), workspace=folder, guards=None, store=False) as session:
        result = await session.run('await write_file(path="x.py", content="def f(:")')
    assert (result.status, result.findings) == ("success", ())


async def test_a_guard_that_fails_is_named_and_nothing_lands(folder: Path) -> None:
    def broken(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        raise RuntimeError(f"{len(changes)} changes, {stage.landed} landed")

    before = files(folder)
    async with Session(kit.tools(), workspace=folder, guards=[broken], store=False) as session:
        result = await session.run("await write_file(path='a.txt', content='x')")
    assert result.error is not None
    assert "the guard 'broken' raised RuntimeError: 1 changes, 0 landed" in result.error.message
    assert files(folder) == before
