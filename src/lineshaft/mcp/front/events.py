"""Messages sent to clients of the older protocol, kept for clients that lose a stream.

Above: the SDK's transport, one store for each of its sessions, so that no client can reach what
another was sent. Kept in memory alone, bounded in number, size and age.
"""

import secrets
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
import mcp_types as types
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from msgspec import field

from lineshaft.mcp.front.presence import here
from lineshaft.values import Struct

GRACE_SECONDS = 5.0
"""How long a request goes on whose client has lost its stream, and may come back to it."""

RETRY_MS = 500
"""After how long a client that has lost a stream is told to come back."""

EVENT_SECONDS = 300.0
"""How long anything is kept."""

_MOST_EVENTS = 10_000
_MOST_BYTES = 32 * 1024 * 1024
"""Of all sessions together; of more the oldest go."""

_MOST_OF_ONE = 256
"""Events of one stream; of more the oldest go. The answer is always the last."""

_MOST_STREAMS = 128
"""Of one session; of more the oldest go, those first that have ended."""

_LONGEST_NUMBER = 12

_GONE = "what was sent while you were away is no longer kept; `status` tells how a run ended"


class _SentEvent(Struct):
    number: int
    message: types.JSONRPCMessage
    size: int


class _Stream(Struct, eq=False):
    """One answer, or what is said outside of answers."""

    id: str
    """What the SDK calls it; a later one may be called the same."""

    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    events: deque[_SentEvent] = field(default_factory=deque[_SentEvent])
    last: int = 0
    """The number of the newest event, kept or not."""

    answered: types.RequestId | None = None
    """What its last message answers; it has ended."""

    readers: int = 0
    """Connections that came back to it."""

    moved: anyio.Event = field(default_factory=anyio.Event)

    def move(self) -> None:
        """Wake tasks that wait for a change."""
        self.moved.set()
        self.moved = anyio.Event()

    @contextmanager
    def reading(self) -> Generator[None]:
        """Count as a reader inside the block."""
        self.readers += 1
        self.move()
        try:
            yield
        finally:
            self.readers -= 1
            self.move()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        while not holds():
            await self.moved.wait()

    async def abandoned(self) -> None:
        """Wait until the time for a client to come back is over."""
        while True:
            await self.until(lambda: self.readers == 0)
            with anyio.move_on_after(GRACE_SECONDS):
                await self.until(lambda: self.readers > 0)
                continue
            return


class EventBounds:
    """The bounds of what is kept of all sessions."""

    def __init__(self) -> None:
        self._oldest: deque[tuple[_Stream, int, float]] = deque()
        self._bytes = 0
        self._filled = anyio.Event()

    def put(self, stream: _Stream, message: types.JSONRPCMessage) -> None:
        """Keep a message as the newest of a stream, and give up what is too much."""
        size = len(message.model_dump_json())
        stream.events.append(_SentEvent(stream.last, message, size))
        self._oldest.append((stream, stream.last, anyio.current_time()))
        self._bytes += size
        if len(stream.events) > _MOST_OF_ONE:
            self._bytes -= stream.events.popleft().size
        while self._bytes > _MOST_BYTES or len(self._oldest) > _MOST_EVENTS:
            self._give_up()
        self._filled.set()

    def drop(self, stream: _Stream) -> None:
        """Keep nothing of a stream any more."""
        self._bytes -= sum(each.size for each in stream.events)
        stream.events.clear()

    def _give_up(self) -> None:
        stream, number, _ = self._oldest.popleft()
        if stream.events and stream.events[0].number <= number:  # or it went before
            self._bytes -= stream.events.popleft().size

    async def clear(self) -> None:
        """Give up what has become too old, as long as this goes on."""
        while True:
            await self._filled.wait()
            while self._oldest:
                await anyio.sleep_until(self._oldest[0][2] + EVENT_SECONDS)
                self._give_up_old(anyio.current_time() - EVENT_SECONDS)
            self._filled = anyio.Event()

    def _give_up_old(self, before: float) -> None:
        while self._oldest and self._oldest[0][2] <= before:
            self._give_up()


class Events(EventStore):
    """The events that one session was sent.

    Args:
        shelf: Where it is kept.
    """

    def __init__(self, shelf: EventBounds) -> None:
        self._shelf = shelf
        self._newest: dict[str, _Stream] = {}
        self._known: dict[str, _Stream] = {}
        self._under_way: set[str] = set()

    def take(self, request_id: types.RequestId) -> bool:
        """Note that a request has come.

        Returns:
            Whether it can be answered: the SDK tells answers apart by the text of their ids alone,
            and of two requests under way with one id, one would wait for its answer for ever.
        """
        if str(request_id) in self._under_way:
            return False
        self._under_way.add(str(request_id))
        return True

    def refused(self, request_id: types.RequestId) -> None:
        """Note that a request was not taken after all: no message will answer it."""
        self._under_way.discard(str(request_id))

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        """Keep a message; None: a client is told where it may come back to."""
        stream = self._newest.get(stream_id)
        if stream is None or message is None or stream.answered is not None:
            stream = self._begin(stream_id)
        stream.last += 1
        if message is not None:
            self._shelf.put(stream, message)
        elif (presence := here.get()) is not None:
            presence.given_up = stream.abandoned
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            stream.answered = message.id
            self._under_way.discard(stream_id)
        stream.move()
        return f"{stream.key}.{stream.last}"

    def _begin(self, stream_id: str) -> _Stream:
        stream = _Stream(stream_id)
        self._newest[stream_id] = self._known[stream.key] = stream
        if len(self._known) > _MOST_STREAMS:
            ended = (each for each in self._known.values() if each.answered is not None)
            oldest = next(ended, None) or next(iter(self._known.values()))
            del self._known[oldest.key]
            if self._newest.get(oldest.id) is oldest:
                del self._newest[oldest.id]
            self._shelf.drop(oldest)
        return stream

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what came after an event, and what comes, until the stream has ended.

        The SDK would look at the end of what is kept, and only then follow what comes: what came
        in between would never arrive.
        """
        key, _, number = last_event_id.rpartition(".")
        stream = self._known.get(key)
        is_number = number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER
        if stream is None or not is_number:
            return None
        with stream.reading():
            await self._follow(stream, int(number), send_callback)
        return None

    async def _follow(self, stream: _Stream, seen: int, send: EventCallback) -> None:
        while True:
            missed = [each for each in stream.events if each.number > seen]
            for kept in missed:
                await send(EventMessage(kept.message, f"{stream.key}.{kept.number}"))
                seen = kept.number
            if missed:
                continue  # while they were sent, more may have come
            if stream.answered is None:
                await stream.moved.wait()
            elif seen >= stream.last:
                return
            else:
                error = types.ErrorData(code=types.INTERNAL_ERROR, message=_GONE)
                told = types.JSONRPCError(jsonrpc="2.0", id=stream.answered, error=error)
                await send(EventMessage(told, f"{stream.key}.{stream.last}"))
                return
