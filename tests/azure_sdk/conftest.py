"""The real programs of the pack, and the folder that its agents work in."""

import shutil
import sys
from pathlib import Path

import pytest

from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import best_jail

PLACE = Path(sys.prefix) / "azure-sdk"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return the folder that agents work in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def npm_programs(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the real programs of npm, or skip with what is missing."""
    try:
        best_jail()
    except NoBoundary as error:
        pytest.skip(f"needs a jail: {error.message}")
    if shutil.which("node") is None:
        pytest.skip("needs Node.js 20.19 or newer (Debian: apt install nodejs)")
    if not (PLACE / "node_modules" / ".bin" / "cspell").exists():
        pytest.skip("needs the npm packages of the pack: ./dev check installs them, where npm is")
    monkeypatch.setenv("LINESHAFT_AZURE_SDK_NODE", str(PLACE))
    return PLACE
