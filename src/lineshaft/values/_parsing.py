"""Python's own parser, which is not safe to use from several threads of Python 3.11."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_TRIES = 20
_PARSER = threading.Lock()

T = TypeVar("T")


def steadily(make: Callable[[], T]) -> T:
    """Return what `make` makes with the parser, one at a time in this process.

    Threads that parse at the same moment may disturb one another's count of how deep they are;
    Python 3.11 notices at the end and raises. That says nothing of the text.
    """
    for _ in range(_TRIES):
        with _PARSER, suppress(SystemError):
            return make()
    return make()
