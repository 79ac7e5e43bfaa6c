"""Fixtures of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from control.world import World
from lineshaft.engines import best_jail
from lineshaft.errors import EngineError


@pytest.fixture(params=["monty", "cpython"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Return a world over each engine that can pause."""
    if request.param == "cpython":
        try:
            best_jail()
        except EngineError as error:
            pytest.skip(f"there is no full Python here: {error}")
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    made = World(tmp_path, request.param)
    yield made
    made.end()


@pytest.fixture(scope="session")
def usable_engines() -> frozenset[str]:
    """Return the engines that can pause and work on this machine."""
    try:
        best_jail()
    except EngineError:
        return frozenset({"monty"})
    return frozenset({"monty", "cpython"})
