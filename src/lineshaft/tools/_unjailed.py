"""Mark of a call whose tool counts as not jailed, so that policy was asked about it as such."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, cast

from lineshaft.tools.schemas import is_awaited

_UNJAILED = ContextVar("unjailed", default=False)


def counts_as_unjailed() -> bool:
    """Return whether the tool whose body runs counts as one without a jail."""
    return _UNJAILED.get()


def unjailed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose body knows that it counts as one without a jail.

    Only async bodies can start programs in views; a sync function may return one.
    """

    async def awaited(body: Awaitable[object]) -> object:
        token = _UNJAILED.set(True)
        try:
            return await body
        finally:
            _UNJAILED.reset(token)

    if is_awaited(function):

        @functools.wraps(function)
        async def asynchronous(*args: object, **given: object) -> object:
            return await awaited(function(*args, **given))

        return asynchronous

    @functools.wraps(function)
    def synchronous(*args: object, **given: object) -> object:
        token = _UNJAILED.set(True)
        try:
            result = function(*args, **given)
        finally:
            _UNJAILED.reset(token)
        return awaited(cast("Awaitable[object]", result)) if inspect.isawaitable(result) else result

    return synchronous
