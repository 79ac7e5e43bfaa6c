"""Stores in real files."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lineshaft.store import Store
from store.samples import KEY, Clock, Open


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
