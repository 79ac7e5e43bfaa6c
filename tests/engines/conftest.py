"""Engines for tests; started once, as a program would."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from engines.play import Play
from lineshaft.engines import make_cpython, make_wasm
from lineshaft.errors import EngineError
from lineshaft.values import Engine, PythonOptions

ENGINES: dict[str, Callable[[], Engine]] = {
    "cpython": lambda: make_cpython(PythonOptions()),
    "wasm": lambda: make_wasm(PythonOptions()),
}


@pytest.fixture(scope="session", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Return each engine in turn."""
    try:
        made = ENGINES[request.param]()
    except EngineError as error:
        pytest.skip(f"needs an engine: {error.message}")
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(engine: Engine) -> Play:
    """Return a host with an engine."""
    return Play(engine)
