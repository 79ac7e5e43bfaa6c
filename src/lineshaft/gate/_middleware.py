"""Middleware around the door: the user's code, which may do anything."""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar

import pydantic_core

from lineshaft.gate._call_log import CallEntry
from lineshaft.gate._messages import failed
from lineshaft.gate._run_info import RunInfo
from lineshaft.values import Call, Dispatch, Done, Failure, Value

_BESIDE: ContextVar[list[CallEntry]] = ContextVar("beside")


def wrapped(inner: Dispatch, run: RunInfo) -> Dispatch:
    """Return a dispatch with the session's middleware around it, outermost first."""
    dispatch = inner
    for wrap in reversed(run.gate.middleware):
        dispatch = _contained(wrap(dispatch), run)
    return _together(dispatch) if run.gate.middleware else dispatch


def note_beside(entry: CallEntry) -> None:
    """Let a call know those that middleware made beside it, and them of it."""
    beside = _BESIDE.get()  # which the outermost dispatch has set
    beside.append(entry)
    entry.beside = beside


def _together(inner: Dispatch) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        beside: list[CallEntry] = []
        token = _BESIDE.set(beside)
        try:
            done = await inner(call)
        finally:
            _BESIDE.reset(token)
        _stay_cancelled(beside)
        return done

    return dispatch


def _stay_cancelled(beside: Sequence[CallEntry]) -> None:
    """Cancel whoever was cancelled while calls waited: no middleware may keep that to itself."""
    if any(map(_waits_on, beside)) and _is_cancelled():
        raise asyncio.CancelledError


def _waits_on(entry: CallEntry) -> bool:
    """Return whether a call has no end: it waits for an answer, and a later part makes it."""
    return entry.status == "pending" and not entry.answered


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _contained(inner: Dispatch, run: RunInfo) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        try:
            return _done(await inner(call))
        except Exception as error:  # noqa: BLE001  middleware is the user's code
            return run.failure(failed(call, error))

    return dispatch


def _done(given: object) -> Done:
    if isinstance(given, Value):
        pydantic_core.to_json(given.value)  # raises where it is not JSON
    elif not isinstance(given, Failure):
        raise TypeError(f"middleware gave {given!r}, neither a Value nor a Failure")
    return given
