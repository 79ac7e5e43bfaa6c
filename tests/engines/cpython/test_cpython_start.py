"""The start of the warm parent is apart from the runs, and is made up for when the parent dies."""

import os
import resource
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine
from lineshaft.errors import NoBoundary
from lineshaft.sandbox.jail import Jail, Jailed, best_jail
from lineshaft.values import Call, Crashed, Done


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


def open_descriptors() -> list[int]:
    return sorted(int(place.name) for place in Path("/proc/self/fd").iterdir())


@contextmanager
def no_more_descriptors(spare: int) -> Generator[None]:
    """Let this process open only so many files more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_descriptors()[-1] + 16, hard))
    try:
        with suppress(OSError):
            while True:
                held.append(os.dup(0))
        for _ in range(spare):
            os.close(held.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held:
            os.close(descriptor)


@pytest.mark.parametrize("spare", range(6))
async def test_a_run_that_took_the_last_descriptors_keeps_its_value(
    engine: CPythonEngine, monkeypatch: pytest.MonkeyPatch, spare: int
) -> None:
    monkeypatch.setattr("lineshaft.engines.cpython._engine._AHEAD_SECONDS", 1_000)
    await engine.ready()
    with ExitStack() as held:

        class Starved(Play):
            """A host that has no descriptors left once a call came."""

            async def dispatch(self, call: Call) -> Done:
                held.enter_context(no_more_descriptors(spare))
                return await super().dispatch(call)

        assert await Starved(engine).value("return await give(1)") == 1
    assert await Play(engine).value("return 2") == 2


@pytest.mark.parametrize("spare", range(6))
async def test_a_process_without_descriptors_leaves_none_open_and_says_why(
    engine: CPythonEngine, monkeypatch: pytest.MonkeyPatch, spare: int
) -> None:
    monkeypatch.setattr("lineshaft.engines.cpython._fork_server._SPARES", 0)
    monkeypatch.setattr("lineshaft.engines.cpython._engine._NO_ROOM_SECONDS", 0)
    assert await Play(engine).value("return 1") == 1
    before = open_descriptors()
    with no_more_descriptors(spare):
        outcome = await Play(engine)("return 1")
    assert isinstance(outcome, Crashed)
    assert outcome.message == "no process for the script could be started: Too many open files"
    assert open_descriptors() == before
    assert await Play(engine).value("return 2") == 2
