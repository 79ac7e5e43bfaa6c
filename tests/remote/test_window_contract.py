"""A folder that a window shows, over the wire, passes the contracts of workspaces and editors.

The window does its actions on a folder, with no editor.
"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from lineshaft.remote.window import window_at, window_over
from lineshaft.values import Stage
from lineshaft.workspace import Editor, Folder
from native import own_state
from remote.far import hosted, serve
from remote.local import LocalRuntime
from workspace.contract import *  # noqa: F403  the tests that every workspace passes
from workspace.editors import *  # noqa: F403  the tests that every editor passes


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own_state(tmp_path / "state", monkeypatch)
    (tmp_path / "ws").mkdir()
    return (tmp_path / "ws").resolve()


@pytest.fixture
async def editor_over(root: Path) -> AsyncGenerator[Editor]:
    async with hosted(root, "w") as (_, [far]):
        serving = asyncio.create_task(serve(far, LocalRuntime(root)))
        yield window_at(root)
        serving.cancel()


@pytest.fixture
def view(root: Path, tmp_path: Path, editor_over: Editor) -> Stage:
    return Folder(root, journals=tmp_path / "journals", editor=editor_over).begin(
        "run", atomic=True
    )


@pytest.fixture
def waits() -> bool:
    return True


async def test_a_runtime_proves_that_it_is_on_this_machine(root: Path, editor_over: Editor) -> None:
    assert type(await asyncio.to_thread(window_over, root)) is type(editor_over)
