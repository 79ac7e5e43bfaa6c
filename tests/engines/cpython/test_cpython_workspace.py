"""Modules of the workspace come from the host, one by one; the folder is not in the jail."""

from collections.abc import Collection
from pathlib import Path
from typing import Literal

import pytest

from engines.cpython.raw import RAW
from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.errors import ToolError
from lineshaft.values import Limits, ModuleText, Outcome, Program, Raised, Returned


class Workspace:
    """A folder whose modules a host hands over.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.asked: list[str] = []

    async def module(self, name: str) -> ModuleText | None:
        """Return a module; `secrets_of_ours` is refused."""
        self.asked.append(name)
        if name == "secrets_of_ours":
            raise ToolError("E_DENIED", "reading it is denied")
        path = self._folder / f"{name}.py"
        return (path.name, path.read_bytes()) if path.is_file() else None


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with a module and a secret."""
    (tmp_path / "ours.py").write_text("answer = 42\n")
    (tmp_path / "secrets_of_ours.py").write_text("key = 'hush'\n")
    return Workspace(tmp_path)


async def waits(ids: Collection[str]) -> Literal["wait", "suspend"]:
    """Wait."""
    del ids
    return "wait"


async def run(engine: CPythonEngine, source: str, workspace: Workspace | None) -> Outcome:
    """Run a script over a workspace."""
    program = Program(
        source=source, workspace_module=None if workspace is None else workspace.module
    )
    play = Play(engine)
    return await engine.run(program, play.dispatch, limits=Limits(), output=print, waiting=waits)


async def test_a_module_is_imported_where_that_is_switched_on(
    jailed: CPythonEngine, workspace: Workspace
) -> None:
    source = "import ours\nreturn [ours.answer, ours.__file__]"
    assert await run(jailed, source, workspace) == Returned(value=[42, "/workspace/ours.py"])
    assert workspace.asked == ["ours"]
    outcome = await run(jailed, source, None)
    assert isinstance(outcome, Raised)
    assert outcome.kind == "ModuleNotFoundError"


async def test_what_policy_refuses_is_not_imported(
    jailed: CPythonEngine, workspace: Workspace
) -> None:
    outcome = await run(jailed, "import secrets_of_ours", workspace)
    assert isinstance(outcome, Raised)
    assert outcome.kind == "ImportError"
    assert "denied" in outcome.message


async def test_the_folder_is_not_in_the_jail(
    jailed: CPythonEngine, workspace: Workspace, tmp_path: Path
) -> None:
    for name in ("ours.py", "secrets_of_ours.py"):
        place = str(tmp_path / name)
        source = f"{RAW}\nreturn raw('openat', -100, {place!r}.encode(), 0, 0)"
        outcome = await run(jailed, source, workspace)
        assert outcome in (Returned(value=2), Returned(value=13))  # ENOENT, EACCES
