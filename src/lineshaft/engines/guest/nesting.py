"""Event loops that a script makes: each is of the guest's kind, and may run inside another."""

import asyncio
import asyncio.events
import asyncio.runners
import asyncio.unix_events
import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .changes import Changes
from .loop import Loop, suspended
from .unfinished import tell_unfinished

# pyright: reportPrivateUsage=false
# ruff: noqa: SLF001  a runner keeps its loop private


def close_off(changes: Changes) -> None:
    """Put the guest's loop in the place of those that wait for descriptors."""
    for owner in (asyncio, asyncio.events):
        changes.attribute(owner, "new_event_loop", Loop)
    for name in ("SelectorEventLoop", "EventLoop"):
        if hasattr(asyncio, name):
            changes.attribute(asyncio, name, Loop)
    policy: Any = getattr(
        asyncio.unix_events,
        "_UnixDefaultEventLoopPolicy",
        getattr(asyncio.unix_events, "_DefaultEventLoopPolicy", None),
    )
    if policy is not None:
        changes.attribute(policy, "_loop_factory", Loop)
    run = _apart(asyncio.runners.run)
    for owner in (asyncio, asyncio.runners):
        changes.attribute(owner, "run", run)
    changes.attribute(asyncio.Runner, "run", _apart(asyncio.Runner.run))
    changes.attribute(asyncio.Runner, "close", _telling(_apart(asyncio.Runner.close)))
    nested = ModuleType("nest_asyncio", "What it does is so already: a loop may run in another.")
    vars(nested)["apply"] = _apply
    changes.item(sys.modules, "nest_asyncio", nested)


def _apply(loop: object = None) -> None:
    """Do nothing."""


def _telling(close: Callable[..., Any]) -> Callable[..., Any]:
    """Return the end of a runner, which says what it cancels where nothing has failed."""

    @functools.wraps(close)
    def telling(runner: Any) -> None:
        loop = runner._loop
        if isinstance(loop, Loop) and not loop.is_closed() and sys.exc_info()[0] is None:
            tell_unfinished(loop)
        close(runner)

    return telling


def _apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs as if no loop did, while the one around it waits."""

    def apart(*args: Any, **options: Any) -> Any:
        with suspended():
            return function(*args, **options)

    apart.__name__ = function.__name__
    apart.__qualname__ = function.__qualname__
    apart.__module__ = function.__module__
    apart.__doc__ = function.__doc__
    apart.__wrapped__ = function  # pyright: ignore[reportFunctionMemberAccess]  as functools does
    return apart
