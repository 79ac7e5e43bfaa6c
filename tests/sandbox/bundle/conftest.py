"""One bundle for all tests of this folder."""

from pathlib import Path

import pytest

from lineshaft.sandbox.bundle import Bundle, build


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Return a bundle of the running interpreter."""
    return build(tmp_path_factory.mktemp("built") / "bundle")


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep caches and data of a test apart from the user's."""
    for name in ("CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path
