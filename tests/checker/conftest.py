"""A folder for temporary files of each test's own, so that what stays behind is seen."""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lineshaft.checker import TyChecker


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the checker makes its own."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
async def checker() -> AsyncIterator[TyChecker]:
    """Yield a checker; its server ends with the test."""
    checker = TyChecker()
    yield checker
    await checker.aclose()


@pytest.fixture
async def hasty() -> AsyncIterator[TyChecker]:
    """Yield one that waits half a second for each answer."""
    checker = TyChecker(seconds=0.5)
    yield checker
    await checker.aclose()
