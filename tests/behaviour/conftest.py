"""What the behaviour tests share: a workspace, a counter, and a session around them."""

from pathlib import Path

import pytest

from lineshaft import Session, kit
from support import Make, Outside


@pytest.fixture
def outside() -> Outside:
    """Return a fresh counter."""
    return Outside()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty workspace."""
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def make(folder: Path, outside: Outside) -> Make:
    """Return a function that makes a session."""

    def session(*tools: object, **settings: object) -> Session:
        given = [*kit.tools().values(), outside.tool(), *tools]
        arguments = {"workspace": folder, **settings}
        return Session(given, **arguments)  # pyright: ignore[reportArgumentType]  # any setting

    return session
