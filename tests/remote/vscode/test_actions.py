"""The extension in a real VS Code passes the suite of every runtime."""

from functools import partial

import pytest
from anyio import to_thread

from lineshaft.remote.protocol import Action, Observation
from remote.suite import *  # noqa: F403  the tests that every runtime passes
from remote.suite import Side
from remote.vscode.editor import VsCode


@pytest.fixture
def side(editor: VsCode) -> Side:
    async def perform(action: Action, *, seconds: float | None = None) -> Observation:
        return await to_thread.run_sync(partial(editor.perform, action, seconds=seconds))

    return Side(editor.root, perform)
