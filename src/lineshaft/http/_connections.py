"""Connections of HTTP clients: bounded in number, and in the time that a request may take to come.

uvicorn bounds the time between two requests, and none while one is received: a client that sends
half a header would hold its connection for good.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""In which the whole header of a request must have come, from its connection or its first byte."""

MOST_CONNECTIONS = 500
"""At once; of more, the oldest that waits for a header goes."""

_WAITING: "dict[Bounded, None]" = {}


class Bounded(H11Protocol):
    """A connection that is closed where its request does not come."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(  # pyright: ignore[reportIncompatibleMethodOverride]  as its base
        self, transport: asyncio.Transport
    ) -> None:
        """Take a connection, or close it where there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            oldest = next(iter(_WAITING), self)
            oldest.end()
        if not self.transport.is_closing():
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._received()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request that has begun must come soon."""
        super().data_received(data)
        is_websocket = self.transport.get_protocol() is not self
        if self.transport.is_closing() or self._has_request or is_websocket:
            self._received()
        elif self._deadline is None:
            self._expect()

    def end(self) -> None:
        """Close the connection at once."""
        self._received()
        self.transport.abort()

    @property
    def _has_request(self) -> bool:
        """Whether the header of a request is here that is not answered yet."""
        return bool(self.cycle) and not self.cycle.response_complete

    def _expect(self) -> None:
        _WAITING[self] = None
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.end)

    def _received(self) -> None:
        _WAITING.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
