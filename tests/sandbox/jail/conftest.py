"""Every boundary of this machine, and a Python to run inside."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineshaft.sandbox.bundle import Interpreter
from lineshaft.sandbox.jail._choose import JAILS, unusable
from sandbox.jail.inside import Inside
from users import open_python


@pytest.fixture(scope="session")
def interpreter() -> Iterator[Interpreter]:
    """Return a bundle that every user of this machine may read."""
    with open_python() as made:
        yield made


@pytest.fixture(params=sorted(JAILS, reverse=True))
def inside(request: pytest.FixtureRequest, interpreter: Interpreter) -> Inside:
    """Return a way to run Python inside each boundary in turn."""
    name = str(request.param)
    if reason := unusable(name):
        pytest.skip(f"needs the boundary {name!r}: {reason}")
    return Inside(JAILS[name](), interpreter)


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the private folders of a test's jails apart from those of others."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)


def pytest_report_header() -> str:
    """Say who runs these tests: for root they show other things than for everybody else."""
    return f"user: {os.geteuid()}"
