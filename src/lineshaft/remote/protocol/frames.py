"""Events on the wire: JSON objects in the form of OpenHands' `event_to_dict`, in and out.

An action carries `id`; the observation that answers it carries that id as `cause`, a number or a
text. A delegated action has `execution_target` `editor`; an event without it is for display alone.
Unknown keys are ignored.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Literal, cast

from lineshaft.errors import RemoteProtocolError
from lineshaft.remote.protocol.actions import ACTIONS, Action, EditAction
from lineshaft.remote.protocol.observations import (
    OBSERVATIONS,
    Observation,
    RunMetadata,
    RunObservation,
)
from lineshaft.values import DecodeError, Struct, decode

Json = Mapping[str, object]
"""A JSON object, as it is sent and received."""

PROTOCOL = 1
"""Version of what is of our own in the protocol; both ends tell theirs."""

LINES = "application/x-ndjson"
"""The type of an answer by HTTP in lines of JSON; who accepts it is told of progress."""

EventKey = str
"""An id as it is compared: the digits of the number."""

EDITOR = "editor"
"""The `execution_target` of a delegated action."""

CONFIRMED = "confirmed"

DEEPEST = 200
"""Levels of a value that goes over the wire: libraries of both ends go down one call for each."""

_ID = re.compile(r"0|[1-9][0-9]{0,15}")
_KINDS = {kind: name for kinds in (ACTIONS, OBSERVATIONS) for name, kind in kinds.items()}


class ActionEvent(Struct, frozen=True, kw_only=True):
    """An action with its place in the conversation."""

    id: EventKey
    action: Action
    timeout: float | None = None
    """Seconds that it may take; None: it says nothing."""

    confirmed: bool = True
    """Whether a person's confirmation neither is missing nor was refused."""

    timestamp: str = ""
    """ISO 8601."""


class ObservationEvent(Struct, frozen=True, kw_only=True):
    """An observation and the action that it answers."""

    cause: EventKey
    observation: Observation
    timestamp: str = ""
    """ISO 8601."""


def key_of(given: object) -> EventKey | None:
    """Return an id or cause as it is compared; None where it is no id."""
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)
    return given if isinstance(given, str) and _ID.fullmatch(given) else None


def action_frame(event: ActionEvent) -> Json:
    """Return an action as it is sent to an editor, delegated to it."""
    action = event.action
    args = asdict(action)
    if isinstance(action, EditAction):
        args["impl_source"] = "oh_aci"
    said: dict[str, object] = {
        "id": int(event.id),
        "timestamp": event.timestamp,
        "source": "agent",
        "message": action.thought,
        "action": _KINDS[type(action)],
        "args": args,
        "execution_target": EDITOR,
    }
    if event.timeout is not None:
        said["timeout"] = event.timeout
    return said


def observation_frame(event: ObservationEvent) -> Json:
    """Return an observation as it is sent to a host."""
    observation = event.observation
    extras = asdict(observation)
    content = extras.pop("content")
    said: dict[str, object] = {
        "timestamp": event.timestamp,
        "source": "environment",
        "message": "",
        "cause": int(event.cause),
        "observation": _KINDS[type(observation)],
        "content": content,
        "extras": extras,
    }
    if isinstance(observation, RunObservation):
        said["success"] = observation.metadata.exit_code == 0
    return said


def is_delegated(frame: Json) -> bool:
    """Return whether an event is an action for the editor to do, and not one to show."""
    return "action" in frame and frame.get("execution_target") == EDITOR


def read_action(frame: Json) -> ActionEvent:
    """Return the action of a frame.

    Raises:
        RemoteProtocolError: It has no id, is of an unknown kind, or its arguments do not fit.
    """
    name, key = frame.get("action"), key_of(frame.get("id"))
    if key is None:
        raise RemoteProtocolError(f"an action has no usable id: {frame.get('id')!r}")
    kind = ACTIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise RemoteProtocolError(
            f"the action {name!r} is not supported", hint=f"supported are {', '.join(ACTIONS)}"
        )
    args = _table(frame, "args")
    timeout = _seconds(frame.get("timeout"), key)
    return ActionEvent(
        id=key,
        action=cast("Action", _fitted(kind, args, f"action {key}")),
        timeout=timeout,
        confirmed=args.get("confirmation_state", CONFIRMED) == CONFIRMED,
        timestamp=str(frame.get("timestamp", "")),
    )


def read_observation(frame: Json) -> ObservationEvent:
    """Return the observation of a frame.

    Raises:
        RemoteProtocolError: It has no cause, is of an unknown kind, or its fields do not fit.
    """
    name, cause = frame.get("observation"), key_of(frame.get("cause"))
    if cause is None:
        raise RemoteProtocolError(f"an observation has no usable cause: {frame.get('cause')!r}")
    kind = OBSERVATIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise RemoteProtocolError(
            f"the answer to action {cause} is an observation of an unknown kind, {name!r}"
        )
    extras = dict(_table(frame, "extras"))
    if kind is RunObservation:
        extras["metadata"] = _metadata(extras, cause)
    said = _fitted(kind, {**extras, "content": frame.get("content")}, f"the answer to {cause}")
    return ObservationEvent(
        cause=cause,
        observation=cast("Observation", said),
        timestamp=str(frame.get("timestamp", "")),
    )


def _seconds(timeout: object, key: EventKey) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise RemoteProtocolError(f"the timeout of action {key} is no number: {timeout!r}")
    try:
        return float(timeout)
    except OverflowError:
        raise RemoteProtocolError(f"the timeout of action {key} is too large") from None


def _metadata(extras: Mapping[str, object], cause: EventKey) -> Json:
    """Return the facts about a command, also of the form that stood in the extras themselves."""
    said = extras.get("metadata", {})
    if not isinstance(said, Mapping):
        raise RemoteProtocolError(f"the metadata of the answer to {cause} are no object")
    facts = dict(cast("Json", said))
    for new, old in (("exit_code", "exit_code"), ("pid", "command_id")):
        if new not in facts and old in extras:
            facts[new] = extras[old]
    return {name: fact for name, fact in facts.items() if name in RunMetadata.__struct_fields__}


def _table(frame: Json, key: Literal["args", "extras"]) -> Json:
    given = frame.get(key, {})
    if not isinstance(given, Mapping):
        raise RemoteProtocolError(f"`{key}` of an event is {type(given).__name__}, not an object")
    return cast("Json", given)


def _fitted(kind: type[object], given: Json, what: str) -> object:
    known = {field.name for field in fields(cast("type[Action]", kind))}
    try:
        return decode(kind, {name: value for name, value in given.items() if name in known})
    except DecodeError as error:
        raise RemoteProtocolError(f"{what} cannot be read: {error}") from None
