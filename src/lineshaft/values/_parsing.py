"""Python's own parser, which is not safe to use from several threads of Python 3.11."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_TRIES = 20
_PARSER = threading.RLock()  # for a thread, too, that is interrupted in its turn and parses anew

T = TypeVar("T")


def steadily(make: Callable[[], T]) -> T:
    """Return what `make` makes with `ast.parse`, one at a time in this process.

    Before 3.11.8, threads that parse at the same moment may disturb one another's count of nesting;
    Python notices at the end and raises, although the text is valid. Other libraries do not wait
    for their turn, so a disturbed parse is tried again.
    """
    for _ in range(_TRIES):
        with _PARSER, suppress(SystemError):
            return make()
    return make()
