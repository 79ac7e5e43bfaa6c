"""A conversation with its futures, its clock and its window.

Above: `host.py`, which has the sockets. Below: `protocol/delegations.py`, which has the rules.
"""

import asyncio
import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import TypeGuard

import anyio

from lineshaft.errors import RemoteProtocolError, TooLarge
from lineshaft.remote.protocol import (
    GRACE_SECONDS,
    Action,
    ActionEnd,
    CallToolAction,
    Delegations,
    DroppedFrame,
    ErrorObservation,
    EventKey,
    Json,
    ToolOffer,
    key_of,
    read_offer,
)
from lineshaft.values import Struct

_LONGEST_PROGRESS = 1_000

Emit = Callable[[str, str, Json], Awaitable[None]]
"""Sends an event to a connection: its id, the event's name, a JSON object."""


class ActionProgress(Struct, frozen=True, kw_only=True):
    """How far an action is, as the window says."""

    done: float
    """Work done so far, in any unit."""

    total: float | None
    """All work in the same unit; None: not known."""

    text: str
    """The present step, in words."""


HearProgress = Callable[[ActionProgress], None]


class Window(Struct, frozen=True, kw_only=True):
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
        lost: Called where it has not come back by then.
    """

    def __init__(
        self,
        conversation_id: str,
        emit: Emit,
        *,
        grace: float = GRACE_SECONDS,
        lost: Callable[[], object] = lambda: None,
    ) -> None:
        self.id = conversation_id
        self.window: Window | None = None
        """The window that does the actions; None: none is connected."""

        self.offer = ToolOffer()
        """The tools that the window offers."""

        self._emit = emit
        self._grace, self._lost = grace, lost
        self._loop = asyncio.get_running_loop()
        self._offered_by = ""
        self._offers = 0
        self._another_offer = asyncio.Event()
        self._forgetting: asyncio.TimerHandle | None = None
        self._table = Delegations(grace=grace, stamp=_stamp)
        self._waiting: dict[EventKey, asyncio.Future[ActionEnd]] = {}
        self._hearing: dict[EventKey, HearProgress] = {}
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
        """Whether a window is there, or an action is waited for."""
        return self.window is not None or bool(self._waiting)

    @property
    def offer_number(self) -> int:
        """How often the window's tools have changed."""
        return self._offers

    async def other_offer(self, number: int) -> None:
        """Wait until the window's tools are others than those of a number."""
        while self._offers == number:
            await self._another_offer.wait()

    async def perform(
        self,
        action: Action,
        *,
        seconds: float | None = None,
        progress: HearProgress | None = None,
    ) -> ActionEnd:
        """Send the window an action, and wait for its end.

        Args:
            action: What to do.
            seconds: That it may take; None: it says nothing, and gets 120 in all.
            progress: Told how far it is, where the window says that.

        Returns:
            The end; errors of the editor, the time and the link are its observation.

        Raises:
            ConnectFailed: No window is connected.
            LocalProtocolError: The time is no positive number.
        """
        if isinstance(action, CallToolAction) and (refused := self._refused(action)) is not None:
            return refused
        key, frame = self._table.delegate(action, now=self._loop.time(), timeout=seconds)
        future = self._waiting[key] = self._loop.create_future()
        if progress is not None:
            self._hearing[key] = progress
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
            self._hearing.pop(key, None)
            self._schedule()

    def _refused(self, action: CallToolAction) -> ActionEnd | None:
        """Return why a tool is not called; None: it is."""
        if not self._table.reachable(now=self._loop.time()):
            return None  # `delegate` says so
        tool = self.offer.tool(action.name)
        if tool is None:
            text = f"the window offers no tool {action.name!r}"
            return self._table.refuse("E_UNKNOWN_TOOL", text)
        if action.sha256 not in ("", tool.sha256):
            text = f"the window's tool {action.name!r} is another one than it was; nothing was done"
            return self._table.refuse("E_STALE", text)
        return None

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
            raise RemoteProtocolError(f"another window has the channel {self.id}")
        self.window = window
        if self._forgetting is not None:
            self._forgetting.cancel()
        if window.id != self._offered_by:
            self._offer(ToolOffer())
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
        self._forgetting = self._loop.call_later(self._grace, self._forget)
        self._schedule()
        return True

    def _forget(self) -> None:
        """End what a window that stays away has offered and begun."""
        self._offer(ToolOffer())
        self._lost()

    def announce(self, window: Window, said: object) -> Json:
        """Take the tools that a window offers, in place of those before; return the answer to it.

        Raises:
            RemoteProtocolError: It is no announcement.
        """
        offer = read_offer(said)
        if self.window is None or self.window.id != window.id:
            return {"ok": False, "reason": "replaced"}
        self._offered_by = window.id
        self._offer(offer)
        return {"ok": True, "left_out": dict(offer.left_out)}

    def _offer(self, offer: ToolOffer) -> None:
        """Take other tools; calls of those that are gone end."""
        before, self.offer = self.offer, offer
        if before == offer:
            return
        self._offers += 1
        self._another_offer.set()
        self._another_offer = asyncio.Event()
        gone = {tool.name for tool in before.tools} - {tool.name for tool in offer.tools}
        for end in self._table.withdraw(gone):
            self._settle(end)
            self._soon_cancelled(end.id)
        self._schedule()

    def progressed(self, cause: object, said: Json) -> None:
        """Take note of how far an action is; what is no progress is left alone."""
        hear = self._hearing.get(key_of(cause) or "")
        done, total, text = said.get("done"), said.get("total"), said.get("text", "")
        if hear is None or not _is_number(done) or not isinstance(text, str):
            return
        known = float(total) if _is_number(total) else None
        hear(ActionProgress(done=float(done), total=known, text=text[:_LONGEST_PROGRESS]))

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
        if self._forgetting is not None:
            self._forgetting.cancel()
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
            self._soon_cancelled(end.id)
        self._schedule()

    def _soon_cancelled(self, key: EventKey) -> None:
        if self.window is not None:
            cancelling = self._loop.create_task(self._cancel(key))
            cancelling.add_done_callback(_look)


def _look(task: "asyncio.Task[None]") -> None:
    """Take note of how sending a cancel ended: a lost connection is seen elsewhere."""
    if not task.cancelled():
        task.exception()


def _is_number(given: object) -> TypeGuard[int | float]:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given) <= sys.float_info.max


def _stamp() -> str:
    return datetime.now(UTC).isoformat()
