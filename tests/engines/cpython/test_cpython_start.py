"""The start of the warm parent is apart from the runs, and is made up for when the parent dies."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import Jail, Jailed, best_jail


class Counted:
    """A boundary that keeps what was started in it."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self.started: list[Jailed] = []

    @property
    def name(self) -> str:
        """As the real one's."""
        return self._jail.name

    @property
    def keeps_apart(self) -> str:
        """As the real one's."""
        return self._jail.keeps_apart

    def start(self, argv: Sequence[str], *, apart: Path | None = None, **about: Any) -> Jailed:
        """Start something for real."""
        self.started.append(self._jail.start(argv, apart=apart, **about))
        return self.started[-1]


@pytest.fixture(params=["sandlock", "bubblewrap"])
def jail(request: pytest.FixtureRequest) -> Counted:
    """Return each boundary of this machine in turn."""
    try:
        return Counted(best_jail(str(request.param)))
    except NoBoundary as error:
        pytest.skip(f"needs a boundary: {error}")


@pytest.fixture
async def engine(jail: Counted) -> AsyncIterator[CPythonEngine]:
    """Return an engine that has started nothing yet."""
    made = CPythonEngine(jail=jail)
    yield made
    await made.aclose()


async def test_a_run_starts_nothing_once_the_engine_is_ready(
    engine: CPythonEngine, jail: Counted
) -> None:
    assert jail.started == []
    await engine.ready()
    assert len(jail.started) == 1
    assert await Play(engine).value("return 1") == 1
    assert len(jail.started) == 1


async def test_a_parent_that_was_killed_is_replaced_before_the_next_run(
    engine: CPythonEngine, jail: Counted
) -> None:
    await engine.ready()
    jail.started[0].kill()
    await engine.ready()
    assert len(jail.started) == 2
    assert await Play(engine).value("return 1") == 1
    assert len(jail.started) == 2
