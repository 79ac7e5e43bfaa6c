"""Stores in real files."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lineshaft.store import Store
from store.samples import KEY

Open = Callable[[], Store]


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where the store is."""
    return tmp_path / "state" / "store.db"


@pytest.fixture
async def open_store(path: Path, clock: Clock) -> AsyncIterator[Open]:
    """Return a function that opens the store once more, as another session does."""
    opened: list[Store] = []

    def another() -> Store:
        opened.append(Store(path, key=KEY, clock=clock, patience=0.3))
        return opened[-1]

    yield another
    for store in opened:
        await store.aclose()


@pytest.fixture
def store(open_store: Open) -> Store:
    return open_store()
