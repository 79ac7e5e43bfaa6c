"""A cancelled `python_run`: it ends at once, also while it is prepared, and nothing of it stays."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from lineshaft.errors import NoBoundary
from lineshaft.kit import python_run
from lineshaft.kit.jailed.process import until_cancelled
from lineshaft.sandbox.jail import best_jail
from lineshaft.values import Context, PythonOptions, Reach

PATIENCE = 30


def _jail() -> str | None:
    try:
        return best_jail(None).name
    except NoBoundary:
        return None


JAIL = _jail()


class Barrier:
    """Holds a thread until it is let go; by itself after a while, which the test sees."""

    def __init__(self) -> None:
        self.reached, self._open = threading.Event(), threading.Event()
        self.waited_too_long = False

    def hold(self) -> None:
        self.reached.set()
        self.waited_too_long = not self._open.wait(PATIENCE)

    def let_go(self) -> None:
        self._open.set()


@pytest.fixture
def barrier() -> Iterator[Barrier]:
    held = Barrier()
    yield held
    held.let_go()


@pytest.fixture
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what is temporary."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def left_in(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*/*") if path.is_dir()]


def undone() -> None:
    """Wait for the threads that undo things."""
    for thread in threading.enumerate():
        if thread.name == "undo":
            thread.join(PATIENCE)


@pytest.mark.parametrize(
    "boundary",
    ["wasm", pytest.param(JAIL, marks=pytest.mark.skipif(JAIL is None, reason="no jail"))],
)
async def test_a_cancelled_call_does_not_wait_for_its_preparation(
    call: Context, barrier: Barrier, scratch: Path, tmp_path: Path, boundary: str
) -> None:
    def reach(path: str) -> Reach:
        if path == "held":
            barrier.hold()
        return "open"

    (tmp_path / "held").write_text("x")
    prepared = replace(call, reach=reach, python=PythonOptions(boundary=boundary))
    task = asyncio.ensure_future(python_run(prepared, code="open('made', 'w')"))
    assert await anyio.to_thread.run_sync(barrier.reached.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not barrier.waited_too_long
    barrier.let_go()
    undone()
    assert left_in(scratch) == []
    assert not (tmp_path / "made").exists()
    # The next one finds all in order.
    again = await python_run(replace(prepared, reach=_all_open), code="print(1)")
    assert again["ok"], again
    call.belongings.close()
    assert left_in(scratch) == []


def _all_open(path: str) -> Reach:
    del path
    return "open"


async def test_a_thread_that_is_left_is_told(barrier: Barrier) -> None:
    ended: list[bool] = []

    def work(left: threading.Event) -> None:
        barrier.hold()
        ended.append(left.is_set())
        gone.set()

    gone = threading.Event()
    task = asyncio.ensure_future(until_cancelled(work))
    assert await anyio.to_thread.run_sync(barrier.reached.wait, PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    barrier.let_go()
    assert await anyio.to_thread.run_sync(gone.wait, PATIENCE)
    assert ended == [True]


async def test_an_error_of_the_thread_is_the_error() -> None:
    with pytest.raises(ValueError, match="no"):
        await until_cancelled(_raise)


def _raise(_left: threading.Event) -> None:
    raise ValueError("no")
