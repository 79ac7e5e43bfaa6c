"""Imports of a workspace's own modules, scripts in files: each is judged as a read of its path."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session
from lineshaft.agents import Microagent
from lineshaft.policy import Rule
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import PythonOptions, Resolved
from lineshaft.workspace import FolderView

RULE = {"id": "shut", "tool": "read_file", "path": "shut/**", "verdict": "deny", "reason": "shut"}
POLICY = Policy.from_dict({"mode": "read", "rules": [RULE]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a workspace with modules in it and outside of it."""
    work = tmp_path / "work"
    for name, text in {
        "plain.py": "NUMBER = 1\n",
        "package/__init__.py": "from package.inner import NUMBER\n",
        "package/inner.py": "NUMBER = 2\n",
        "shut/__init__.py": "NUMBER = 3\n",
        "../outside.py": "NUMBER = 4\n",
    }.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (work / "linked.py").symlink_to(tmp_path / "outside.py")
    return work


def session(folder: Path, *, imports: bool = True) -> Session:
    options = PythonOptions(workspace_imports=imports)
    return Session(workspace=folder, policy=POLICY, python=options, engine="wasm", store=False)


@pytest.mark.parametrize(("module", "number"), [("plain", 1), ("package", 2), ("package.inner", 2)])
async def test_a_module_of_the_workspace_is_imported(
    folder: Path, module: str, number: int
) -> None:
    async with session(folder) as held:
        result = await held.run(f"import {module}\nreturn {module}.NUMBER")
    assert (result.error, result.value) == (None, number)


@pytest.mark.parametrize(
    ("module", "words"), [("shut", "'shut'"), ("linked", "linked"), ("nowhere", "nowhere")]
)
async def test_a_module_that_must_not_be_read_is_not_imported(
    folder: Path, module: str, words: str
) -> None:
    async with session(folder) as held:
        result = await held.run(f"import {module}\nreturn {module}.NUMBER")
    assert result.status == "error"
    assert result.error is not None
    assert words in result.error.message


async def test_a_module_that_is_swapped_once_it_was_judged_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide = FolderView.resolve

    async def resolve(view: FolderView, path: str, *, follow: bool = True) -> Resolved:
        """Decide a path; then somebody else puts a symlink there."""
        decided = await decide(view, path, follow=follow)
        if path == "plain.py":
            (folder / path).unlink()
            (folder / path).symlink_to("shut/__init__.py")
        return decided

    monkeypatch.setattr(FolderView, "resolve", resolve)
    async with session(folder) as held:
        result = await held.run("import plain\nreturn plain.NUMBER")
    assert (folder / "plain.py").is_symlink()
    assert result.error is not None, result.value
    assert "became a symlink" in result.error.message


async def test_without_the_setting_nothing_of_the_workspace_is_imported(folder: Path) -> None:
    async with session(folder, imports=False) as held:
        result = await held.run("import plain\nreturn plain.NUMBER")
    assert result.error is not None
    assert "ModuleNotFoundError" in result.error.message


@pytest.mark.parametrize(
    "rule",
    [
        Rule("shut", "deny", effect="read", path="shut/**"),
        Rule("shut", "deny", tool="read_file", path="shut/**"),
        Rule("shut", "ask", tool="read_file", path="shut/**"),
    ],
)
async def test_a_script_in_a_file_that_must_not_be_read_is_not_run(
    folder: Path, rule: Rule
) -> None:
    (folder / "shut" / "script.py").write_text("SECRET +")
    (folder / "open.py").write_text("return 7")
    policy = Policy(mode="open", rules=(rule,))
    model = ScriptedModel(
        [
            call("run_script", file="shut/script.py"),
            call("run_script", file="open.py"),
            exit_with(1),
        ]
    )
    agent = Microagent[int](name="a", instructions="Work.", model=model, scripts=True)
    async with Session([agent], workspace=folder, policy=policy, store=False) as held:
        shut = await held.handle("run_script", {"file": "shut/script.py"})
        opened = await held.handle("run_script", {"file": "open.py"})
        done = await held.run("return await agents.a(text='go')")
    assert "policy refused the script shut/script.py (rule 'shut')" in shut.text
    assert "SECRET" not in shut.text
    assert "7" in opened.text
    assert (done.error, done.value) == (None, 1)
    refused, ran = (request.messages[-1].text for request in model.requests[1:])
    assert "policy refused the script shut/script.py (rule 'shut')" in refused
    assert "SECRET" not in refused
    assert "7" in ran
