"""The engine `wasm`, started once."""

import asyncio
from collections.abc import Iterator

import pytest

from engines.play import Play
from lineshaft.engines.wasm import WasmEngine


@pytest.fixture(scope="session")
def engine() -> Iterator[WasmEngine]:
    """Return the engine."""
    made = WasmEngine()
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(engine: WasmEngine) -> Play:
    """Return a host with the engine."""
    return Play(engine)
