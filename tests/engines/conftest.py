"""Engines for tests; started once, as a program would."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines import MontyEngine, make_micropython
from lineshaft.errors import NoBoundary
from lineshaft.values import Engine

ENGINES = {"micropython": make_micropython, "monty": MontyEngine}
"""Every engine that takes scripts and needs no boundary; `cpython` has a folder of its own."""


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
