"""The thread that a script's own text goes on in: the order of what others do is not known."""

import threading


class Line:
    """One process has one."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def leave(self) -> None:
        """Be in no thread of this process: it is a copy."""
        self.thread = 0

    @property
    def is_here(self) -> bool:
        """Whether the thread that asks is the one."""
        return threading.get_ident() == self.thread


line = Line()
