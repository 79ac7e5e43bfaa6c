"""Engines for tests; started once, as a program would."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines import MontyEngine, make_micropython
from lineshaft.errors import NoBoundary
from lineshaft.values import Engine

NO_PAUSES = "micropython"
"""An engine that says so where it is asked for one, which is tested there."""

ENGINES = {"micropython": make_micropython, "monty": MontyEngine}
"""Every engine that takes scripts and needs no boundary; `cpython` has a folder of its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave pauses out for the engine that has none."""
    items[:] = [
        item
        for item in items
        if item.path.name != "test_engine_pauses.py"
        or not isinstance(item, pytest.Function)
        or item.callspec.params.get("engine") != NO_PAUSES
    ]


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Return each engine in turn."""
    try:
        made = ENGINES[request.param]()
    except NoBoundary as error:
        pytest.skip(f"needs an engine: {error.message}")
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(engine: Engine) -> Play:
    """Return a host with an engine."""
    return Play(engine)
