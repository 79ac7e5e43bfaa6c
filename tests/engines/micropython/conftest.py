"""The engine `micropython` for its own tests; the contract is tested beside those of others."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines._micropython import MicroPythonEngine


@pytest.fixture(scope="session")
def micropython() -> Iterator[MicroPythonEngine]:
    """Return the engine, started once."""
    made = MicroPythonEngine()
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(micropython: MicroPythonEngine) -> Play:
    """Return a host with the engine."""
    return Play(micropython)
