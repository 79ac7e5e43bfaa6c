"""Presence of the client of an HTTP request, which may also come back."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import anyio
from mcp.server.streamable_http import REQUEST_CANCELLED
from mcp.shared.exceptions import MCPError

from lineshaft.mcp.front.request import RequestContext

CLIENT = "lineshaft.client"
"""Where a request keeps its `Presence`."""

T = TypeVar("T")


class Presence:
    """The client of one HTTP request."""

    def __init__(self) -> None:
        self.closed = anyio.Event()
        """Set once its connection is."""

        self.given_up: Callable[[], Awaitable[None]] | None = None
        """Waits until it does not come back; None: it was not told how it could."""

        self.ended = False
        """Whether the server has ended it."""

        self._waiting: set[anyio.CancelScope] = set()

    @contextmanager
    def ending(self, waiting: anyio.CancelScope) -> Generator[None]:
        """Have `end` cancel a scope, which waits for the client's next words in the block."""
        self._waiting.add(waiting)
        if self.ended:
            waiting.cancel()
        try:
            yield
        finally:
            self._waiting.discard(waiting)

    def end(self) -> None:
        """Take it for one that has gone for good: the server ends."""
        self.ended, self.given_up = True, None
        self.closed.set()
        for waiting in self._waiting:
            waiting.cancel()

    async def left(self) -> None:
        """Wait until it has gone for good."""
        await self.closed.wait()
        if self.given_up is not None:
            await self.given_up()


here: ContextVar[Presence | None] = ContextVar("client_of_a_request", default=None)
"""The client of the request that is taken in this task."""


async def while_there(context: RequestContext, answer: Callable[[], Awaitable[T]]) -> T:
    """Return an answer; it is ended where its client has gone for good.

    Args:
        context: The request.
        answer: Gives it.

    Raises:
        MCPError: It was ended.
        Exception: The one that `answer` raised.
    """
    client: Presence | None = context.request and context.request.scope.get(CLIENT)
    if client is None:
        return await answer()
    found: list[T] = []
    failed: list[Exception] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_end_with, client, group.cancel_scope)
        try:
            found.append(await answer())
        except Exception as error:  # noqa: BLE001  raised below: a task group would wrap it
            failed.append(error)
        group.cancel_scope.cancel()
    for error in failed:
        raise error
    if not found:
        why = "the server ends" if client.ended else "its client has gone"
        raise MCPError(REQUEST_CANCELLED, f"it was ended: {why}")
    return found[0]


async def _end_with(client: Presence, scope: anyio.CancelScope) -> None:
    await client.left()
    scope.cancel()
