"""The folder that a real VS Code shows passes the contracts of workspaces and editors."""

from pathlib import Path

import pytest

from lineshaft.remote.window import window_over
from lineshaft.values import Stage
from lineshaft.workspace import Editor, Folder
from remote.vscode.editor import VsCode
from workspace.contract import *  # noqa: F403  the tests that every workspace passes
from workspace.editors import *  # noqa: F403  the tests that every editor passes


@pytest.fixture
def root(editor: VsCode) -> Path:
    return editor.root.resolve()


@pytest.fixture
def editor_over(editor: VsCode, root: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    editor.conversation()
    monkeypatch.setenv("XDG_STATE_HOME", str(editor.home / "state"))
    return window_over(root)


@pytest.fixture
def view(root: Path, tmp_path: Path, editor_over: Editor) -> Stage:
    return Folder(root, journals=tmp_path / "journals", editor=editor_over).begin(
        "run", atomic=True
    )


@pytest.fixture
def waits() -> bool:
    return True
