"""Requests to the reader in the guest, and its answers."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

import anyio.to_thread

from lineshaft.sandbox.webassembly import Asker

AskReader = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]
"""Make one request to the reader. Raises `GuestTrapped` or `GuestStopped` where that ended it."""


def through(asker: Asker) -> AskReader:
    """Return a way to a kept instance of the image.

    Args:
        asker: The instance; it is asked in a thread, as it blocks.
    """

    async def ask(request: Mapping[str, object]) -> Mapping[str, object]:
        text = json.dumps(request)
        return _parsed(await anyio.to_thread.run_sync(asker.ask, text, abandon_on_cancel=True))

    return ask


def _parsed(told: str) -> Mapping[str, object]:
    """Return an answer; an empty one for an invalid text."""
    if len(told) > _LONGEST:
        return {}
    try:
        answer: object = json.loads(told)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, object]", answer) if isinstance(answer, dict) else {}


_LONGEST = 16_000_000
"""Characters of an answer: that of the longest script has a third of it."""
