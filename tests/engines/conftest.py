"""Engines for tests; started once, as a program would."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines import MontyEngine
from lineshaft.values import Engine

ENGINES = {"monty": MontyEngine}
"""Every engine that takes scripts."""


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Return each engine in turn."""
    made = ENGINES[request.param]()
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(engine: Engine) -> Play:
    """Return a host with an engine."""
    return Play(engine)
