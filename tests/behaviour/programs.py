"""What tests of `python_run` share."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from lineshaft import Session
from lineshaft.values import CallResult

Run = Callable[..., Awaitable[dict[str, Any]]]
"""Runs a program and returns the answer."""

Open = Callable[..., Awaitable[Session]]
"""Opens a session over the kit; settings as `Session`'s."""


def value_of(done: CallResult) -> dict[str, Any]:
    """Return the answer of a call that was made."""
    assert done.error is None, done.error
    return cast("dict[str, Any]", done.value)
