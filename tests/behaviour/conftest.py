"""What the behaviour tests share: a workspace, a counter, and a session around them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from behaviour.programs import Open, Run, value_of
from lineshaft import Session, kit
from lineshaft.errors import EngineError
from lineshaft.sandbox.jail import best_jail
from lineshaft.sandbox.webassembly import native_code
from lineshaft.values import WASM_BOUNDARY, PythonOptions
from support import Make, Outside


@pytest.fixture
def outside() -> Outside:
    """Return a fresh counter."""
    return Outside()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty workspace."""
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def make(folder: Path, outside: Outside) -> Make:
    """Return a function that makes a session."""

    def session(*tools: object, **settings: object) -> Session:
        given = [*kit.tools().values(), outside.tool(), *tools]
        arguments = {"workspace": folder, **settings}
        return Session(given, **arguments)  # pyright: ignore[reportArgumentType]  # any setting

    return session


@pytest.fixture(params=["sandlock", "bubblewrap", WASM_BOUNDARY])
def boundary(request: pytest.FixtureRequest) -> str:
    """Return each boundary that this machine has."""
    name = str(request.param)
    try:
        if name == WASM_BOUNDARY:
            native_code()
        else:
            best_jail(name)
    except EngineError as error:
        pytest.skip(f"needs the boundary {name!r}: {error.message}")
    return name


@pytest.fixture
def jail(boundary: str) -> str:
    """Return each jail that this machine has."""
    if boundary == WASM_BOUNDARY:
        pytest.skip("platform: a program in WebAssembly starts no other processes")
    return boundary


@pytest.fixture
async def opened(folder: Path) -> AsyncIterator[Open]:
    """Return a function that opens a session over the kit."""
    async with AsyncExitStack() as stack:

        async def open_session(**settings: Any) -> Session:
            settings.setdefault("workspace", folder)
            return await stack.enter_async_context(Session(kit.tools(), **settings))

        yield open_session


@pytest.fixture
async def run(opened: Open, boundary: str) -> Run:
    """Return a function that runs a program and returns the answer."""
    session = await opened(python=PythonOptions(boundary=boundary))

    async def python_run(**arguments: object) -> dict[str, Any]:
        return value_of(await session.call("python_run", arguments))

    return python_run
