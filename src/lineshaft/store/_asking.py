"""The way from an event loop to the writer's thread, and back."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import anyio

from lineshaft.errors import StateError
from lineshaft.store._books import Books
from lineshaft.store._writer import Work, Writer

T = TypeVar("T")

_MOST_LEFT = 16


class Desk:
    """Takes work to the writer and waits for the answer.

    Args:
        writer: Does it.
        seconds: How long an answer may take.
    """

    def __init__(self, writer: Writer, *, seconds: float) -> None:
        self._writer = writer
        self._seconds = seconds
        self._left: list[Future[object]] = []

    async def ask(
        self, act: Callable[[Books], T], *, durable: bool = False, thoroughly: bool = False
    ) -> T:
        """Do work in a transaction and wait until it is committed.

        It is done, too, where whoever waits is cancelled.

        Args:
            act: The work.
            durable: Whether it is on the disk then, with all that was handed over before.
            thoroughly: Whether files are made smaller then.

        Raises:
            LineshaftError: What the work raised.
            StateError: The store cannot do it, or gives no answer.
        """
        self._raise_earlier()
        work = Work(act=act, durable=durable, thoroughly=thoroughly)
        return await self._answer(self._writer.ask(work))

    async def leave(self, act: Callable[[Books], object]) -> None:
        """Hand over work without waiting for it, unless much waits already.

        Raises:
            StateError: Earlier work that was left failed.
        """
        self._raise_earlier()
        self._left.append(self._writer.ask(Work(act=act, keep=True)))
        if len(self._left) >= _MOST_LEFT:
            await self.flush()

    async def flush(self, *, durable: bool = False) -> None:
        """Wait until all that was handed over is written."""
        await self.ask(_nothing, durable=durable)
        self._raise_earlier()

    async def _answer(self, future: Future[T]) -> T:
        waiting = asyncio.wrap_future(future)
        waiting.add_done_callback(_seen)
        with anyio.move_on_after(self._seconds):
            return await asyncio.shield(waiting)
        raise no_answer(self._seconds)

    def _raise_earlier(self) -> None:
        """Raise what work came to that nobody waited for."""
        done = [future for future in self._left if future.done()]
        self._left = [future for future in self._left if not future.done()]
        for future in done:
            error = future.exception()
            if error is not None:
                raise error


def no_answer(seconds: float) -> StateError:
    """Return the error for a store that does not answer."""
    return StateError(
        f"the store gave no answer within {seconds:g} s", hint="look at the disk that it lies on"
    )


def _seen(future: "asyncio.Future[T]") -> None:
    if not future.cancelled():
        future.exception()


def _nothing(books: Books) -> None:
    """Only what was queued before is done."""
    del books
