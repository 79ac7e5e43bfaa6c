"""Mark of a call whose tool counts as not jailed, so that policy was asked about it as such."""

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

_UNJAILED = ContextVar("unjailed", default=False)


def counts_as_unjailed() -> bool:
    """Return whether the tool whose body runs counts as one without a jail."""
    return _UNJAILED.get()


def unjailed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose body knows that it counts as one without a jail.

    Only async ones can start programs in views, so others stay as they are.
    """
    if not inspect.iscoroutinefunction(inspect.unwrap(function)):
        return function

    @functools.wraps(function)
    async def body(*args: object, **given: object) -> object:
        token = _UNJAILED.set(True)
        try:
            return await function(*args, **given)
        finally:
            _UNJAILED.reset(token)

    return body
