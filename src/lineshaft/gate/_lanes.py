"""Lanes: calls of one lane run one at a time, in the order in which they arrived."""

from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar

import anyio
from msgspec import field

from lineshaft.values import Struct, ToolSpec

WORKSPACE = "workspace"

_NONE: Mapping[str, str] = {}
_holder: ContextVar[Mapping[str, str]] = ContextVar("lineshaft_lanes_held", default=_NONE)


class Ticket(Struct, eq=False):
    """A place in a line."""

    shared: bool
    granted: anyio.Event = field(default_factory=anyio.Event)
    gone: bool = False


class CallLine:
    """First come, first served: an exclusive ticket goes alone, shared ones go together."""

    def __init__(self) -> None:
        self._waiting: deque[Ticket] = deque()
        self._sharing = 0
        self._alone = False

    @property
    def idle(self) -> bool:
        """Return whether no call is here."""
        return not (self._waiting or self._sharing or self._alone)

    def join(self, *, shared: bool = False) -> Ticket:
        """Take the next place."""
        ticket = Ticket(shared)
        self._waiting.append(ticket)
        self._advance()
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give a place up, whether its turn has come or not."""
        if ticket.gone:
            return
        ticket.gone = True
        if ticket.granted.is_set():
            if ticket.shared:
                self._sharing -= 1
            else:
                self._alone = False
        self._advance()

    def _advance(self) -> None:
        while self._waiting and not self._alone:
            head = self._waiting[0]
            if not head.gone:
                if not head.shared and self._sharing:
                    return
                self._sharing += head.shared
                self._alone = not head.shared
                head.granted.set()
            self._waiting.popleft()


class Lanes:
    """All lanes of a session. A call made inside another's turn does not wait for that turn."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], CallLine] = {}

    def line(self, key: tuple[str, str]) -> CallLine:
        """Return the line of a lane."""
        return self._lines.setdefault(key, CallLine())

    def forget(self, key: tuple[str, str]) -> None:
        """Drop a lane that no call stands in."""
        line = self._lines.get(key)
        if line is not None and line.idle:
            del self._lines[key]


def held_around() -> Mapping[str, str]:
    """Return the lanes that calls around the current task hold, each with its call's key."""
    return _holder.get()


class CallPlace:
    """The place of one call in all of its lines.

    Args:
        spec: The tool that is called.
        lanes: The session's lanes.
        order: The line of the call's run, which keeps its reads and writes of files in order.
        held: The lanes that calls around the run hold, each with its call's key.
    """

    def __init__(
        self, spec: ToolSpec, *, lanes: Lanes, order: CallLine, held: Mapping[str, str]
    ) -> None:
        self._lanes = lanes
        self._order = order
        self._shared = spec.lane != WORKSPACE
        self._ordered = spec.lane == WORKSPACE or (spec.effect == "read" and bool(spec.paths))
        self._held = held
        self._key = None if spec.lane is None else (spec.lane, held.get(spec.lane, ""))
        self._tickets: list[tuple[CallLine, Ticket]] = []

    def join(self) -> None:
        """Take the next place in each line."""
        if self._ordered:
            self._tickets.append((self._order, self._order.join(shared=self._shared)))
        if self._key is not None:
            line = self._lanes.line(self._key)
            self._tickets.append((line, line.join()))

    @property
    def granted(self) -> bool:
        """Whether the call may run."""
        for _, ticket in self._tickets:  # noqa: SIM110  a generator would be one call more a ticket
            if not ticket.granted.is_set():
                return False
        return True

    async def wait(self) -> None:
        """Wait until the call may run."""
        for _, ticket in self._tickets:
            if not ticket.granted.is_set():
                await ticket.granted.wait()

    def hold(self, call_key: str) -> None:
        """Let further calls of the current task pass through this call's own lane."""
        own = self._held if self._key is None else {**self._held, self._key[0]: call_key}
        _holder.set(own)

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[None]:
        """Leave the line inside the block, in which a person is asked, and join it again after.

        Not in the lane of the workspace: what others changed there would not be what was read. Nor
        does a call that keeps its place in the run's order: one that waits for it there may have
        the lane then, and each would wait for the other.
        """
        if self._key is None or self._ordered:
            yield
            return
        line, ticket = self._tickets.pop()
        line.leave(ticket)
        self._lanes.forget(self._key)
        yield
        line = self._lanes.line(self._key)
        ticket = line.join()
        self._tickets.append((line, ticket))
        await ticket.granted.wait()

    def leave(self) -> None:
        """Leave all lines, so that the next calls can go."""
        for line, ticket in self._tickets:
            line.leave(ticket)
        self._tickets.clear()
        if self._key is not None:
            self._lanes.forget(self._key)
