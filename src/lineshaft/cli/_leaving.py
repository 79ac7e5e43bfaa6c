"""The answer to Ctrl-C while a command is loaded; it is there before anything else is."""

import os

TYPE_CHECKING = False  # `typing` is slow to import, and Ctrl-C before it is there is not answered
if TYPE_CHECKING:
    from typing import NoReturn

CANCELLED = 130


def leave_at_once(_signal: int, _frame: object) -> "NoReturn":
    """End the process on Ctrl-C while commands are loaded, when there is nothing to be undone.

    The usual `KeyboardInterrupt` can be lost there, or come out as another error.
    """
    os._exit(CANCELLED)
