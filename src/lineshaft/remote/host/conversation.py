"""A conversation with its futures, its clock and its window.

Above: `host.py`, which has the sockets. Below: `protocol/delegations.py`, which has the rules.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import anyio

from lineshaft.errors import RemoteProtocolError, TooLarge
from lineshaft.remote.protocol import (
    GRACE_SECONDS,
    Action,
    ActionEnd,
    Delegations,
    DroppedFrame,
    ErrorObservation,
    EventKey,
    Json,
)

Emit = Callable[[str, str, Json], Awaitable[None]]
"""Sends an event to a connection: its id, the event's name, a JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """An editor's window, as it introduced itself."""

    id: str
    """Its own choice, the same after a reconnect."""

    connection: str
    """The Socket.IO session."""

    about: Mapping[str, str]
    """Name and version of the editor and of the extension, for messages."""


class HostConversation:
    """Delegates actions to the window that joined, and gives their ends to who waits.

    Args:
        conversation_id: Its id.
        emit: Sends an event to a connection.
        grace: Seconds for a lost link to come back.
    """

    def __init__(self, conversation_id: str, emit: Emit, *, grace: float = GRACE_SECONDS) -> None:
        self.id = conversation_id
        self.window: Window | None = None
        """The window that does the actions; None: none is connected."""

        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._table = Delegations(grace=grace, stamp=_stamp)
        self._waiting: dict[EventKey, asyncio.Future[ActionEnd]] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def pending(self) -> tuple[EventKey, ...]:
        """The ids of actions without an answer."""
        return self._table.pending

    @property
    def latest_event_id(self) -> int:
        """The last id that was given; -1: none."""
        return self._table.latest_event_id

    @property
    def in_use(self) -> bool:
        """Whether a window is there, or somebody waits for an action."""
        return self.window is not None or bool(self._waiting)

    async def perform(self, action: Action, *, seconds: float | None = None) -> ActionEnd:
        """Have the window do an action, and wait for its end.

        Args:
            action: What to do.
            seconds: That it may take; None: it says nothing, and gets 120 in all.

        Returns:
            The end; errors of the editor, the time and the link are its observation.

        Raises:
            ConnectFailed: No window is connected.
            LocalProtocolError: The time is no positive number.
        """
        key, frame = self._table.delegate(action, now=self._loop.time(), timeout=seconds)
        future = self._waiting[key] = self._loop.create_future()
        self._schedule()
        try:
            if self.window is not None:
                await self._send(key, frame)
            return await future
        except asyncio.CancelledError:
            self._table.give_up(key, ErrorObservation(content="cancelled", error_id="E_CANCELLED"))
            with anyio.CancelScope(shield=True):
                await self._cancel(key)
            raise
        finally:
            self._waiting.pop(key, None)
            self._schedule()

    async def _send(self, key: EventKey, frame: Json) -> None:
        window = self.window
        if window is None:
            return
        try:
            await self._emit(window.connection, "oh_event", frame)
        except TooLarge as error:
            said = ErrorObservation(content=error.message, error_id=error.code)
            self._settle(self._table.give_up(key, said), status="failed")

    async def _cancel(self, key: EventKey) -> None:
        if self.window is not None:
            await self._emit(self.window.connection, "oh_cancel", {"id": int(key)})

    async def show(self, event: Json) -> int:
        """Show an event in the window, now or when it joins; return its id."""
        frame = self._table.show(event)
        if self.window is not None:
            await self._emit(self.window.connection, "oh_event", frame)
        return self._table.latest_event_id

    def admit(self, window: Window) -> Window | None:
        """Let a window in.

        Returns:
            Its earlier connection, which has not been seen to end; None: there is none.

        Raises:
            RemoteProtocolError: Another window has this conversation.
        """
        before = self.window
        if before is not None and before.id != window.id:
            raise RemoteProtocolError(f"another window has the conversation {self.id}")
        self.window = window
        return before

    async def welcome(self, window: Window, latest_event_id: object) -> None:
        """Send a window what it has missed and what is pending."""
        if self.window is window:
            frames = self._table.joined(latest_event_id, now=self._loop.time())
            self._schedule()
            for frame in frames:
                await self._emit(window.connection, "oh_event", frame)

    def leave(self, connection: str) -> bool:
        """Take note that a connection ended; return whether it was the window's present one."""
        if self.window is None or self.window.connection != connection:
            return False
        self.window = None
        self._table.left(now=self._loop.time())
        self._schedule()
        return True

    def receive(self, frame: object) -> DroppedFrame | None:
        """Take an `oh_event` of the window; return why it changes nothing, or None."""
        end = self._table.receive(frame)
        if isinstance(end, DroppedFrame):
            return end
        self._settle(end)
        return None

    def waits(self, cause: object, waiting: bool) -> None:  # noqa: FBT001  a state
        """Take note that an action's dialog opened or closed."""
        self._table.waits(cause, waiting, now=self._loop.time())
        self._schedule()

    def close(self) -> None:
        """End everything that is pending: the host ends."""
        for key in self.pending:
            said = ErrorObservation(content="the host ended", error_id="E_CONNECTION_LOST")
            self._settle(self._table.give_up(key, said))
        self._schedule()

    def _settle(self, end: ActionEnd | None, *, status: str = "") -> None:
        future = None if end is None else self._waiting.get(end.id)
        if end is None or future is None or future.done():
            return
        if status == "failed":
            end = ActionEnd(id=end.id, observation=end.observation, status="failed")
        future.set_result(end)

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._table.next_deadline()
        if deadline < math.inf:
            self._timer = self._loop.call_at(deadline, self._expire)

    def _expire(self) -> None:
        for end in self._table.expire(now=self._loop.time()):
            self._settle(end)
            if self.window is not None:
                cancelling = self._loop.create_task(self._cancel(end.id))
                cancelling.add_done_callback(_look)
        self._schedule()


def _look(task: "asyncio.Task[None]") -> None:
    """Take note of how sending a cancel ended: a lost connection is seen elsewhere."""
    if not task.cancelled():
        task.exception()


def _stamp() -> str:
    return datetime.now(UTC).isoformat()
