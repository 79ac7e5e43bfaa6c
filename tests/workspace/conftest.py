"""A folder, its workspace, and a view of it whose changes wait."""

from pathlib import Path

import pytest

from lineshaft.workspace import Folder, FolderView


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty folder."""
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture
def folder(root: Path, tmp_path: Path) -> Folder:
    """Return a workspace over it that can keep changes back."""
    return Folder(root, journals=tmp_path / "journals")


@pytest.fixture
def view(folder: Folder) -> FolderView:
    """Return a run's view of that, whose changes wait."""
    return folder.begin("run", atomic=True)
