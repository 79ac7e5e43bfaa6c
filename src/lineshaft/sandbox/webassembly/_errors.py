"""The ways in which a guest ends without an answer."""

from typing import Literal

TrapKind = Literal["memory", "stack", "deadlock", "trap"]
"""The wall that a guest ran into: its memory, its stack, a lock that it holds, any other."""


class GuestStopped(Exception):
    """The host ended the guest: a function of the host raised, or `stop` was called.

    Args:
        cause: The exception of the function; None after `stop`.
    """

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__("the guest was stopped" if cause is None else f"stopped by {cause!r}")
        self.cause = cause


class GuestTrapped(Exception):
    """The guest ran into a wall, and no code of it runs any more.

    Args:
        kind: Which wall.
        message: One sentence that a script's author may read.
        last_words: The interpreter's own message, at most 4 KB; mostly empty.
    """

    def __init__(self, kind: TrapKind, message: str, last_words: str = "") -> None:
        super().__init__(message)
        self.kind: TrapKind = kind
        self.message = message
        self.last_words = last_words


class GuestTooLarge(Exception):
    """The guest sent, or was to be sent, more in one piece than is taken."""
