"""The engine `cpython` in every boundary of this machine, started once each."""

import asyncio
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from engines.play import Play
from lineshaft.engines import best_jail
from lineshaft.engines._cpython import CPythonEngine
from lineshaft.errors import NoBoundary
from lineshaft.values import PythonOptions

BOUNDARIES = ("sandlock", "bubblewrap")

DIFFERENT = {
    "test_a_script_that_uses_too_much_is_ended[memory, caught]": "it may be caught",
    "test_an_error_has_its_kind_and_the_line_of_the_script[in a condition past an except]": (
        "the line is known more exactly"
    ),
    "test_a_cancelled_run_waits_for_calls_that_take_their_time_to_end": (
        "it takes calls that were announced at once for started at once"
    ),
    **dict.fromkeys(
        (
            "test_a_suspended_run_goes_on_where_it_was",
            "test_a_resumed_run_repeats_only_the_calls_that_were_not_done",
            "test_a_state_can_be_resumed_in_parts",
            "test_the_time_already_used_counts_after_a_pause",
            "test_a_call_that_ends_while_the_run_is_suspended_is_not_repeated",
            "test_a_call_that_fails_while_the_run_is_suspended_is_not_repeated",
        ),
        "a pause has no state: it is replayed",
    ),
}
"""Tests of the contract that this engine meets otherwise, and why."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is met otherwise."""
    items[:] = [
        item
        for item in items
        if item.path.parent.name != "cpython"
        or not {item.name, item.name.partition("[")[0]} & set(DIFFERENT)
    ]


def _engine(boundary: str | None) -> CPythonEngine:
    try:
        jail = best_jail(boundary)
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error}")
    return CPythonEngine(options=PythonOptions(boundary=boundary), jail=jail)


@pytest.fixture(scope="session")
def engine() -> Iterator[CPythonEngine]:
    """Return the engine in the best boundary of this machine."""
    made = _engine(None)
    yield made
    asyncio.run(made.aclose())


@pytest.fixture(scope="session", params=BOUNDARIES)
def jailed(request: pytest.FixtureRequest) -> Iterator[CPythonEngine]:
    """Return the engine in each boundary in turn."""
    made = _engine(request.param)
    yield made
    asyncio.run(made.aclose())


@pytest.fixture
def play(engine: CPythonEngine) -> Play:
    """Return a host with the engine."""
    return Play(engine)


@pytest.fixture
def held(jailed: CPythonEngine) -> Play:
    """Return a host with the engine, for each boundary."""
    return Play(jailed)


@pytest.fixture
def open_folder() -> Generator[Path]:
    """Return a folder that every user may read, as a workspace is for another user in a jail."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
