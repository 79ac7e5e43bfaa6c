"""A project and a person's own folders, apart from those of whoever runs the tests."""

from pathlib import Path

import pytest

from config.homes import Home


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    """Return where the person's own settings go; nothing is there yet."""
    file = tmp_path / "config" / "lineshaft" / "lineshaft.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }


@pytest.fixture
def home(tmp_path: Path, project: Path, user_file: Path, environ: dict[str, str]) -> Home:
    return Home(tmp_path, project, user_file, environ)
