"""Middleware around the door: the user's code, which may do anything."""

import pydantic_core

from lineshaft.gate._frame import Frame
from lineshaft.gate._told import failed
from lineshaft.values import Call, Dispatch, Done, Failure, Value


def wrapped(inner: Dispatch, frame: Frame) -> Dispatch:
    """Return a dispatch with the session's middleware around it, outermost first."""
    dispatch = inner
    for wrap in reversed(frame.gate.middleware):
        dispatch = _contained(wrap(dispatch), frame)
    return dispatch


def _contained(inner: Dispatch, frame: Frame) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        try:
            return _done(await inner(call))
        except Exception as error:  # noqa: BLE001  middleware is the user's code
            return frame.failure(failed(call, error))

    return dispatch


def _done(given: object) -> Done:
    if isinstance(given, Value):
        pydantic_core.to_json(given.value)  # raises where it is not JSON
    elif not isinstance(given, Failure):
        raise TypeError(f"middleware gave {given!r}, neither a Value nor a Failure")
    return given
