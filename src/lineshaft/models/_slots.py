"""Slots of requests that are under way at a time, and the time of a request beside its wait."""

import asyncio
import math
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

import anyio

from lineshaft.errors import ConfigError, ModelUnavailable


class _Allowance:
    """The seconds of one request, which begin anew when it has a slot.

    Args:
        seconds: How many.
        scope: Ends with them.
    """

    def __init__(self, seconds: float, scope: anyio.CancelScope) -> None:
        self._seconds = seconds
        self._scope = scope

    def stand(self) -> None:
        """Take no seconds until `begin`."""
        self._scope.deadline = math.inf

    def begin(self) -> None:
        """Take the seconds from now."""
        self._scope.deadline = anyio.current_time() + self._seconds


_ALLOWANCE: ContextVar[_Allowance | None] = ContextVar("_ALLOWANCE", default=None)
"""Of the request that is being made here."""


@contextmanager
def given_up_after(seconds: float, name: str) -> Generator[None]:
    """Give up a request that its model does not give up itself.

    What it waits for a slot in the block is not part of the seconds.

    Args:
        seconds: How long it may take.
        name: Of the model.

    Raises:
        ModelUnavailable: The seconds are over.
    """
    with anyio.CancelScope() as scope:
        allowance = _Allowance(seconds, scope)
        allowance.begin()
        before = _ALLOWANCE.set(allowance)
        try:
            yield
        finally:
            _ALLOWANCE.reset(before)
    if scope.cancelled_caught:
        raise ModelUnavailable(f"{name} did not answer within {seconds:g} s")


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

    @asynccontextmanager
    async def one(self) -> AsyncGenerator[None]:
        """Hold a slot of this event loop in the block, while a request is under way."""
        loop = asyncio.get_running_loop()
        slots = self._found.setdefault(loop, anyio.Semaphore(self._number))
        allowance = _ALLOWANCE.get()
        if allowance is not None:
            allowance.stand()
        async with slots:
            if allowance is not None:
                allowance.begin()
            yield
