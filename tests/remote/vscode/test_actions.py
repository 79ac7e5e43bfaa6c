"""The extension in a real VS Code: the suite of every runtime, and what only an editor has."""

import shutil
from collections.abc import Generator
from functools import partial

import pytest
from anyio import to_thread

from lineshaft.remote.protocol import Action, Observation
from remote.suite import *  # noqa: F403  the tests that every runtime passes
from remote.suite import Side
from remote.vscode.conftest import FAILED
from remote.vscode.editor import ROOT, VsCode, vscode


@pytest.fixture(scope="session")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Generator[VsCode]:
    with vscode(tmp_path_factory.mktemp("editor")) as started:
        yield started


@pytest.fixture
def side(editor: VsCode, request: pytest.FixtureRequest) -> Generator[Side]:
    for each in (*editor.root.iterdir(), *editor.root.parent.glob("ws-*")):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()

    async def perform(action: Action, *, seconds: float | None = None) -> Observation:
        return await to_thread.run_sync(partial(editor.perform, action, seconds=seconds))

    yield Side(editor.root, perform)
    if FAILED in request.node.stash:
        folder = ROOT / "build" / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        editor.browser("shot", str(folder / f"{request.node.name[:80].replace('/', '_')}.png"))
