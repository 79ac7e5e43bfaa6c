"""Fixtures of this folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Unpack

import pytest

from control.world import ASK, ASK_WRITE, Open, World
from forked.programs import Programs
from lineshaft import Policy, Session, kit
from lineshaft.errors import EngineError
from lineshaft.sandbox.jail import best_jail
from lineshaft.session import SessionArguments
from support import Outside


@pytest.fixture(params=["wasm"])
def engine(request: pytest.FixtureRequest, usable_engines: frozenset[str]) -> str:
    """Return an engine that can pause."""
    if request.param not in usable_engines:
        pytest.skip(f"the engine {request.param!r} does not work here")
    return str(request.param)


@pytest.fixture
def outside() -> Outside:
    """Return a counter that no script can reach."""
    return Outside()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(tmp_path: Path, workspace: Path, outside: Outside, engine: str) -> Open:
    """Return a maker of sessions over one store and one workspace."""

    def make(
        *tools: object,
        rules: Sequence[Mapping[str, str]] = (ASK, ASK_WRITE),
        **settings: Unpack[SessionArguments],
    ) -> Session:
        given: SessionArguments = {
            "store": tmp_path / "state" / "runs.db",
            "engine": engine,
            "workspace": workspace,
            "policy": Policy.from_dict({"mode": "open", "rules": list(rules)}),
            **settings,
        }
        own = (outside.tool("poke", effect="external"), outside.tool("note", effect="external"))
        return Session([*own, kit.tools(), *tools], **given)

    return make


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave hosts with `cpython` to one file: what engines share, their contract shows on both."""
    items[:] = [
        item
        for item in items
        if item.path.parent != Path(__file__).parent
        or item.path.name in ("test_pause.py", "test_clocks_after_crash.py")
        or "cpython" not in item.keywords
    ]


@pytest.fixture(params=["wasm", "cpython"])
def world(request: pytest.FixtureRequest, tmp_path: Path, programs: Programs) -> Iterator[World]:
    """Return a world over each engine that can pause."""
    if request.param == "cpython":
        try:
            best_jail()
        except EngineError as error:
            pytest.skip(f"there is no full Python here: {error}")
    (tmp_path / "work").mkdir()
    (tmp_path / "state").mkdir(mode=0o700)
    made = World(tmp_path, request.param, programs)
    yield made
    made.end()


@pytest.fixture(scope="session")
def usable_engines() -> frozenset[str]:
    """Return the engines that can pause and work on this machine."""
    try:
        best_jail()
    except EngineError:
        return frozenset({"wasm"})
    return frozenset({"wasm", "cpython"})
