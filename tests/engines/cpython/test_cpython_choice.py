"""With `auto`, a script is sent to full Python where its imports need that, and only there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lineshaft import Session
from lineshaft.values import PythonOptions


@pytest.fixture(scope="module")
async def session(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Session]:
    """Return a session that chooses an engine for each script."""
    async with Session(workspace=tmp_path_factory.mktemp("workspace"), store=False) as session:
        yield session


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run them on asyncio, in one loop."""
    return "asyncio"


@pytest.mark.parametrize(
    ("source", "engine", "reason"),
    [
        ("import json, sqlite3, zoneinfo\nreturn 1", "wasm", "runs every script"),
        ("import lzma\nreturn len(lzma.compress(b'a')) > 1", "cpython", "line 1: "),
        ("x = 1\nfrom ctypes import sizeof\nreturn 1", "cpython", "line 2: "),
        ("def f():\n    import ssl\n    return 1\nreturn f()", "cpython", "line 2: "),
        ("try:\n    import tty\nexcept ImportError:\n    pass\nreturn 1", "wasm", "runs every"),
        (
            "import typing\nif typing.TYPE_CHECKING:\n    import mmap\nreturn 1",
            "wasm",
            "runs every",
        ),
        ("import no_such_module_of_python", "wasm", "runs every"),
    ],
)
async def test_imports_choose_the_engine(
    source: str, engine: str, reason: str, session: Session
) -> None:
    done = await session.run(source)
    assert (done.engine, reason in done.engine_reason) == (engine, True), done.engine_reason
    assert done.status == ("error" if "no_such" in source else "success")


async def test_a_module_that_neither_python_has_is_told_with_both(session: Session) -> None:
    done = await session.run("import msvcrt")
    assert done.error is not None
    assert (done.engine, "No module named 'msvcrt'" in done.error.message) == ("cpython", True)
    assert "Python in WebAssembly has no module msvcrt (it is for Windows)" in done.error.hint
    assert "the bundled Python has none either" in done.error.hint


async def test_without_a_boundary_such_a_script_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    options = PythonOptions(boundary="wasm")
    async with Session(workspace=tmp_path, store=False, python=options) as session:
        done = await session.run("print('begun')\nimport lzma")
        plain = await session.run("return 1")
    assert (done.status, done.stdout, plain.value) == ("error", "", 1)
    assert done.error is not None
    assert "no module lzma" in done.error.message
    assert done.error.line == 2
