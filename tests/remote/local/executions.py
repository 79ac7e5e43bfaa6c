"""The editor's side of a conversation, without I/O: nothing is done twice, no answer is lost.

`extensions/vscode` has the same table in TypeScript.
"""

from collections import OrderedDict

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol import (
    ActionEvent,
    ErrorObservation,
    EventKey,
    Json,
    Observation,
    ObservationEvent,
    is_delegated,
    key_of,
    observation_frame,
    read_action,
)
from lineshaft.values import Struct

_KEPT = 200


class BeginAction(Struct, frozen=True):
    """An action to do now."""

    event: ActionEvent


class SendAnswer(Struct, frozen=True):
    """An answer to send: recorded before, or of an action that is not done."""

    frame: Json


class SkipEvent(Struct, frozen=True):
    """An event that asks for nothing: for display, or an action that is being done."""

    reason: str


class Executions:
    """Actions by id, with their answers.

    Args:
        kept: Answers that are kept after their acknowledgement, for actions that come again.
    """

    def __init__(self, *, kept: int = _KEPT) -> None:
        self._kept = kept
        self._running: set[EventKey] = set()
        self._unacknowledged: OrderedDict[EventKey, Json] = OrderedDict()
        self._answered: OrderedDict[EventKey, Json] = OrderedDict()
        self._forgotten = -1

    @property
    def running(self) -> frozenset[EventKey]:
        """Actions that have begun and have no answer."""
        return frozenset(self._running)

    @property
    def unacknowledged(self) -> tuple[Json, ...]:
        """Answers that the host has not confirmed: sent again after each reconnect."""
        return tuple(self._unacknowledged.values())

    def receive(self, frame: Json) -> BeginAction | SendAnswer | SkipEvent:
        """Take an `oh_event` of the host, and return what to do about it."""
        if not is_delegated(frame):
            return SkipEvent("it is for display")
        key = key_of(frame.get("id"))
        if key is None:
            return SkipEvent(f"an action has no usable id: {frame.get('id')!r}")
        if key in self._running:
            return SkipEvent(f"action {key} is being done")
        known = self._unacknowledged.get(key) or self._answered.get(key)
        if known is not None:
            return SendAnswer(known)
        if int(key) <= self._forgotten:
            return self._refused(
                key, "E_UNKNOWN_STATE", f"the answer to {key} is not kept any more"
            )
        try:
            event = read_action(frame)
        except RemoteProtocolError as error:
            said = f"{error.message}; {error.hint}" if error.hint else error.message
            return self._refused(key, "E_UNSUPPORTED", said)
        if not event.confirmed:
            return self._refused(key, "E_DENIED", f"action {key} is not confirmed by a person")
        self._running.add(key)
        return BeginAction(event)

    def _refused(self, key: EventKey, code: str, text: str) -> SendAnswer:
        return SendAnswer(self.answered(key, ErrorObservation(content=text, error_id=code)))

    def answered(self, key: EventKey, observation: Observation) -> Json:
        """Record the answer to an action, and return the frame to send until it is confirmed."""
        frame = observation_frame(ObservationEvent(cause=key, observation=observation))
        self._running.discard(key)
        self._unacknowledged[key] = frame
        return frame

    def acknowledged(self, key: EventKey) -> None:
        """Take note that the host has an answer."""
        frame = self._unacknowledged.pop(key, None)
        if frame is None:
            return
        self._answered[key] = frame
        while len(self._answered) > self._kept:
            oldest, _ = self._answered.popitem(last=False)
            self._forgotten = max(self._forgotten, int(oldest))
