"""The host's side of a conversation, without I/O: actions out, observations in, time as a number.

Above: `remote/host`, which owns the sockets and the clock. Below: `frames.py`. Every method that
depends on time takes `now`, seconds of any steady clock. An action is pending until exactly one
answer ends it: the editor's observation, its own time, or a link that stays lost.
"""

import json
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Mapping
from typing import Literal, cast

from lineshaft.errors import ConnectFailed, LocalProtocolError, RemoteProtocolError
from lineshaft.remote.protocol.actions import Action, CallToolAction
from lineshaft.remote.protocol.frames import (
    ActionEvent,
    EventKey,
    Json,
    action_frame,
    key_of,
    read_observation,
)
from lineshaft.remote.protocol.observations import ErrorObservation, Observation
from lineshaft.values import Struct

SLACK_SECONDS = 5.0
"""Beyond an action's own time, for its answer to arrive."""

UNTIMED_SECONDS = 120.0
"""For an action that says no time of its own."""

GRACE_SECONDS = 30.0
"""For a lost link to come back; meanwhile all that is pending stays so."""

_HALF = frozenset({"E_CANCELLED", "E_UNKNOWN_STATE"})
"""Codes of errors after which it is not known how far an action came."""

_KEPT_EVENTS = 1_000
_KEPT_BYTES = 16 * 1024 * 1024
"""Of events for display in all, as JSON: the oldest go first."""

_KEPT_IDS = 10_000


class ActionEnd(Struct, frozen=True, kw_only=True):
    """The end of an action."""

    id: EventKey
    observation: Observation
    status: Literal["done", "failed", "unknown"]
    """`failed`: it was not done; `unknown`: whether it was, or how far, is not known."""


class DroppedFrame(Struct, frozen=True, kw_only=True):
    """A frame that changes nothing, and why."""

    reason: Literal["duplicate", "late", "unknown cause", "no cause", "no observation"]
    text: str
    """A sentence for a log."""


class _Pending(Struct, kw_only=True):
    """An action that waits for its answer."""

    frame: Json
    tool: str | None
    """The window's tool that it calls; None: it calls none."""

    left: float
    """Seconds that it still had when its clock was last started."""

    since: float | None
    """When its clock was last started; None: it stands still."""

    waiting: bool = False
    """Whether a dialog of the editor is open for it."""

    def deadline(self) -> float:
        return math.inf if self.since is None else self.since + self.left

    def stop(self, now: float) -> None:
        if self.since is not None:
            self.left = max(0.0, self.left - (now - self.since))
            self.since = None

    def go(self, now: float, at_least: float = 0.0) -> None:
        if self.since is None:
            self.left = max(self.left, at_least)
            self.since = now


class Delegations:
    """The actions of a conversation that wait for answers, and its events that are shown.

    Args:
        grace: Seconds for a lost link to come back.
        stamp: Gives the time of an event, in ISO 8601.
    """

    def __init__(
        self,
        *,
        grace: float = GRACE_SECONDS,
        stamp: Callable[[], str] = str,
    ) -> None:
        self._grace = grace
        self._stamp = stamp
        self._last = -1
        self._pending: dict[EventKey, _Pending] = {}
        self._ended: OrderedDict[EventKey, Literal["duplicate", "late"]] = OrderedDict()
        self._shown: deque[tuple[int, Json, int]] = deque()
        """Events for display with their ids and sizes, the oldest first."""

        self._shown_bytes = 0
        self._lost: float | None = None
        self._linked = False

    @property
    def pending(self) -> tuple[EventKey, ...]:
        """The ids of actions without an answer, in the order in which they were delegated."""
        return tuple(self._pending)

    @property
    def latest_event_id(self) -> int:
        """The last id that was given; -1: none."""
        return self._last

    def delegate(
        self, action: Action, *, now: float, timeout: float | None = None
    ) -> tuple[EventKey, Json]:
        """Begin an action.

        Args:
            action: What the editor is to do.
            now: The time.
            timeout: Seconds that it may take; None: it says nothing, and gets 120 in all.

        Returns:
            Its id, and the frame to send.

        Raises:
            ConnectFailed: There is no editor, and none is about to come back.
            LocalProtocolError: The time is no positive number.
        """
        if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
            raise LocalProtocolError(f"an action's time is a positive number, not {timeout!r}")
        if not self.reachable(now=now):
            raise ConnectFailed(
                "no editor is connected",
                hint="open the folder in VS Code, with the Lineshaft extension on, and trust it",
            )
        key = self._next()
        event = ActionEvent(id=key, action=action, timeout=timeout, timestamp=self._stamp())
        seconds = UNTIMED_SECONDS if timeout is None else timeout + SLACK_SECONDS
        frame = action_frame(event)
        since = now if self._linked else None
        tool = action.name if isinstance(action, CallToolAction) else None
        self._pending[key] = _Pending(frame=frame, tool=tool, left=seconds, since=since)
        return key, frame

    def refuse(self, code: str, text: str) -> ActionEnd:
        """Return the end of an action that is not even begun."""
        key = self._next()
        self._note(key, "duplicate")
        said = ErrorObservation(content=text, error_id=code)
        return ActionEnd(id=key, observation=said, status="failed")

    def withdraw(self, tools: Collection[str]) -> tuple[ActionEnd, ...]:
        """End the pending calls of tools that the window does not offer any more."""
        gone = [key for key, each in self._pending.items() if each.tool in tools]
        return tuple(self._end(key, self._taken_back(key), "unknown") for key in gone)

    def _taken_back(self, key: EventKey) -> ErrorObservation:
        return ErrorObservation(
            content=f"the window took its tool {self._pending[key].tool!r} back in the middle of"
            " the call; what it was to do may have been done",
            error_id="E_TOOL_FAILED",
        )

    def reachable(self, *, now: float) -> bool:
        """Return whether an editor is there, or lost for no longer than the grace."""
        return self._linked or (self._lost is not None and now < self._lost + self._grace)

    def show(self, event: Json) -> Json:
        """Return an event for display with its id; it is kept for windows that come back.

        The last 1,000 are kept, and of these no more than 16 MiB.

        Raises:
            LocalProtocolError: It cannot be written as JSON.
        """
        frame = {"timestamp": self._stamp(), "source": "agent", **event, "id": self._last + 1}
        frame.pop("execution_target", None)
        try:
            text = json.dumps(frame, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise LocalProtocolError(f"an event cannot be written as JSON: {error}") from None
        length = len(text.encode("utf-8", "surrogatepass"))
        self._shown.append((int(self._next()), frame, length))
        self._shown_bytes += length
        while len(self._shown) > _KEPT_EVENTS or self._shown_bytes > _KEPT_BYTES:
            *_, gone = self._shown.popleft()
            self._shown_bytes -= gone
        return frame

    def _next(self) -> EventKey:
        self._last += 1
        return str(self._last)

    def joined(self, latest_event_id: object, *, now: float) -> tuple[Json, ...]:
        """Take note that an editor is there, and return what it is to be sent.

        Args:
            latest_event_id: The last id that it has seen, a number or a text; anything else: none.
            now: The time.

        Returns:
            Events for display after that id and every pending action, by id. An action that it has
            had before comes again: it is known by its id and not done twice.
        """
        self._linked, self._lost = True, None
        for each in self._pending.values():
            if not each.waiting:
                each.go(now, at_least=SLACK_SECONDS)
        seen = -1 if (key := key_of(latest_event_id)) is None else int(key)
        again = [(number, frame) for number, frame, _ in self._shown if number > seen]
        again += [(int(key), each.frame) for key, each in self._pending.items()]
        return tuple(frame for _, frame in sorted(again, key=lambda pair: pair[0]))

    def left(self, *, now: float) -> None:
        """Take note that the link is lost: clocks stand still, and the grace begins."""
        if self._linked:
            self._linked, self._lost = False, now
            for each in self._pending.values():
                each.stop(now)

    def receive(self, frame: object) -> ActionEnd | DroppedFrame:
        """Take an `oh_event` of the editor.

        Returns:
            The answer that ends a pending action, or why nothing changes. Either way the frame
            is acknowledged, and the editor forgets it.
        """
        if not isinstance(frame, Mapping) or "observation" not in frame:
            return DroppedFrame(
                reason="no observation", text="an event of an editor is no observation"
            )
        said = cast("Json", frame)
        cause = key_of(said.get("cause"))
        if cause is None:
            text = f"an observation has no usable cause: {said.get('cause')!r}"
            return DroppedFrame(reason="no cause", text=text)
        if cause not in self._pending:
            return self._dropped(cause)
        try:
            observation = read_observation(said).observation
        except RemoteProtocolError as error:
            observation = ErrorObservation(content=error.message, error_id=error.code)
            return self._end(cause, observation, "unknown")
        if not isinstance(observation, ErrorObservation):
            return self._end(cause, observation, "done")
        known = observation.error_id not in _HALF
        return self._end(cause, observation, "failed" if known else "unknown")

    def _dropped(self, cause: EventKey) -> DroppedFrame:
        reason = self._ended.get(cause)
        if reason is None:
            return DroppedFrame(
                reason="unknown cause", text=f"there is no action {cause} to answer"
            )
        how = "has its answer already" if reason == "duplicate" else "had been given up"
        return DroppedFrame(
            reason=reason, text=f"an answer to action {cause}, which {how}, is dropped"
        )

    def waits(self, cause: object, waiting: bool, *, now: float) -> None:  # noqa: FBT001  a state
        """Take note that an action's dialog opened or closed: its clock stops or goes on."""
        pending = self._pending.get(key_of(cause) or "")
        if pending is None or pending.waiting == waiting:
            return
        pending.waiting = waiting
        if waiting:
            pending.stop(now)
        elif self._linked:
            pending.go(now)

    def give_up(self, key: EventKey, observation: ErrorObservation) -> ActionEnd | None:
        """End an action that is waited for no longer; None where it has ended."""
        return self._end(key, observation, "unknown") if key in self._pending else None

    def expire(self, *, now: float) -> tuple[ActionEnd, ...]:
        """End what is out of time, and everything where the link stays lost."""
        if self._lost is not None and now >= self._lost + self._grace:
            return tuple(self._end(key, self._link_lost(), "unknown") for key in self.pending)
        over = [key for key, each in self._pending.items() if now >= each.deadline()]
        return tuple(self._end(key, self._out_of_time(key), "unknown") for key in over)

    def _link_lost(self) -> ErrorObservation:
        return ErrorObservation(
            content=f"the editor's connection was lost, and did not come back in {self._grace:g} s;"
            " the action may have been done",
            error_id="E_CONNECTION_LOST",
        )

    def _out_of_time(self, key: EventKey) -> ErrorObservation:
        own = self._pending[key].frame.get("timeout")
        time = f"its {own:g} s" if isinstance(own, int | float) else f"{UNTIMED_SECONDS:g} s"
        return ErrorObservation(
            content=f"the editor did not answer in {time}; the action may have been done",
            error_id="E_TOOL_TIMEOUT",
        )

    def next_deadline(self) -> float:
        """Return when `expire` has something to do; infinity: never."""
        if self._lost is not None:
            return self._lost + self._grace if self._pending else math.inf
        return min((each.deadline() for each in self._pending.values()), default=math.inf)

    def _end(
        self,
        key: EventKey,
        observation: Observation,
        status: Literal["done", "failed", "unknown"],
    ) -> ActionEnd:
        del self._pending[key]
        late = isinstance(observation, ErrorObservation) and status == "unknown"
        self._note(key, "late" if late else "duplicate")
        return ActionEnd(id=key, observation=observation, status=status)

    def _note(self, key: EventKey, answered: Literal["duplicate", "late"]) -> None:
        self._ended[key] = answered
        while len(self._ended) > _KEPT_IDS:
            self._ended.popitem(last=False)
