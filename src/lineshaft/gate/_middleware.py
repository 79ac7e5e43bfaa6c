"""Middleware around the door: the user's code, which may do anything."""

import asyncio
import inspect
from collections.abc import Awaitable, Sequence
from contextvars import ContextVar

from msgspec.structs import replace

from lineshaft.errors import ConfigError, LineshaftError
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._invoke import by_name
from lineshaft.gate._messages import failed
from lineshaft.gate._raised import described
from lineshaft.gate._run_info import RunInfo
from lineshaft.tools import Mismatch
from lineshaft.values import Call, Dispatch, Done, Failure, Middleware, Value, encoded

_BESIDE: ContextVar[list[CallEntry]] = ContextVar("beside")


def wrapped(inner: Dispatch, run: RunInfo) -> Dispatch:
    """Return a dispatch with the session's middleware around it, outermost first.

    Raises:
        ConfigError: Middleware gives no function, or raises.
    """
    dispatch = inner
    for wrap in reversed(run.gate.middleware):
        name = getattr(wrap, "__qualname__", repr(wrap))
        dispatch = _contained(_made(wrap, dispatch, name), run, name)
    return _together(dispatch, run) if run.gate.middleware else dispatch


def note_beside(entry: CallEntry) -> None:
    """Link a call with those that middleware made beside it."""
    beside = _BESIDE.get()  # which the outermost dispatch has set
    beside.append(entry)
    entry.beside = beside


def _together(inner: Dispatch, run: RunInfo) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        beside: list[CallEntry] = []
        token = _BESIDE.set(beside)
        try:
            done = await inner(_named(call, run))
        finally:
            _BESIDE.reset(token)
        _stay_cancelled(beside)
        return done

    return dispatch


def _named(call: Call, run: RunInfo) -> Call:
    """Return a call as middleware reads it: all arguments by name, where the tool takes them so."""
    own = call.scope.own.get(call.tool) if call.scope else None
    tool = own or run.gate.tools.get(call.tool)
    if tool is None:
        return call
    try:
        named = by_name(tool.spec, call.arguments, call.positional)
    except Mismatch:
        return call  # it is refused once it is bound
    return replace(call, arguments=named, positional=())


def _stay_cancelled(beside: Sequence[CallEntry]) -> None:
    """Cancel what was cancelled while calls waited: no middleware may keep that to itself."""
    if any(map(_waits_on, beside)) and _is_cancelled():
        raise asyncio.CancelledError


def _waits_on(entry: CallEntry) -> bool:
    """Return whether a call has no end: it waits for an answer, and a later segment makes it."""
    return entry.status == "pending" and not entry.answered


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _made(wrap: Middleware, inner: Dispatch, name: str) -> Dispatch:
    """Return the dispatch that middleware makes for one run."""
    try:
        made: object = wrap(inner)
    except (LineshaftError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a part of the user's code, that may raise anything
        hint = "mend the middleware, or remove it: no run begins without it"
        told = f"the middleware {name} raised {described(error)}"
        raise ConfigError(told, hint=hint) from error
    if not callable(made):
        hint = "return an async function that takes a call and returns its end"
        raise ConfigError(f"the middleware {name} gave {made!r} for `inner`", hint=hint)
    return made


def _contained(inner: Dispatch, run: RunInfo, name: str) -> Dispatch:
    async def dispatch(call: Call) -> Done:
        try:
            try:
                return _done(await _awaitable(inner(call)))
            except SystemExit as error:
                raise RuntimeError(f"it called sys.exit({error.code!r})") from None
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001  middleware is the user's code
            hint = f"the middleware {name} failed, not the tool: mend it"
            return run.failure(failed(call, error, where=f" in the middleware {name}", hint=hint))

    return dispatch


def _awaitable(given: object) -> Awaitable[object]:
    if not inspect.isawaitable(given):
        raise TypeError("it gives no awaitable; make it an async function")
    return given


def _done(given: object) -> Done:
    if isinstance(given, Value):
        encoded(given.value)  # raises where it is not JSON
    elif not isinstance(given, Failure):
        raise TypeError(f"middleware gave {given!r}, neither a Value nor a Failure")
    return given
