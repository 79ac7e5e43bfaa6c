"""The engine `cpython` in every boundary of this machine, started once each."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import best_jail
from lineshaft.values import PythonOptions

BOUNDARIES = ("sandlock", "bubblewrap")


def made(boundary: str | None, options: PythonOptions | None = None) -> CPythonEngine:
    """Return an engine in a boundary; skip where there is none."""
    try:
        jail = best_jail(boundary)
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error}")
    return CPythonEngine(options=options, jail=jail)


@pytest.fixture(scope="session")
def engine() -> Iterator[CPythonEngine]:
    """Return the engine in the best boundary of this machine."""
    one = made(None)
    yield one
    asyncio.run(one.aclose())


@pytest.fixture(scope="session", params=BOUNDARIES)
def jailed(request: pytest.FixtureRequest) -> Iterator[CPythonEngine]:
    """Return the engine in each boundary in turn."""
    one = made(request.param)
    yield one
    asyncio.run(one.aclose())


@pytest.fixture
def play(engine: CPythonEngine) -> Play:
    """Return a host with the engine."""
    return Play(engine)


@pytest.fixture
def held(jailed: CPythonEngine) -> Play:
    """Return a host with the engine, for each boundary."""
    return Play(jailed)
