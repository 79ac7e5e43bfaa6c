"""Imports of a workspace's own modules: each is judged as a read of its path."""

from pathlib import Path

import pytest

from lineshaft import Policy, Session
from lineshaft.values import PythonOptions

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


async def test_without_the_setting_nothing_of_the_workspace_is_imported(folder: Path) -> None:
    async with session(folder, imports=False) as held:
        result = await held.run("import plain\nreturn plain.NUMBER")
    assert result.error is not None
    assert "ModuleNotFoundError" in result.error.message
