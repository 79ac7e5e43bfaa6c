"""Slots of requests that are under way at a time."""

import asyncio
from weakref import WeakKeyDictionary

import anyio

from lineshaft.errors import ConfigError


class RequestSlots:
    """Slots of one model's requests; each event loop has its own, as its primitives are its own.

    Args:
        number: Requests at a time.

    Raises:
        ConfigError: The number is below one.
    """

    def __init__(self, number: int) -> None:
        if number < 1:
            raise ConfigError(f"concurrency must be 1 or more, not {number}")
        self._number = number
        self._found: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.Semaphore] = (
            WeakKeyDictionary()
        )

    def here(self) -> anyio.Semaphore:
        """Return what a request of this event loop holds while it is under way."""
        loop = asyncio.get_running_loop()
        return self._found.setdefault(loop, anyio.Semaphore(self._number))
