"""Lines of a program that runs in a thread, as they come, for the loop of the call."""

import asyncio
from collections.abc import Callable
from threading import BoundedSemaphore

from lineshaft.processes.programs import KeptLines
from lineshaft.values import Line

_MOST_WAITING = 1_000
_PATIENCE_SECONDS = 1.0


class ComingLines:
    """Keeps the lines of a program, and has a function told each of them in the loop.

    A program waits where its lines are not taken; those that are not taken for a second are kept
    and not told.

    Args:
        kept: Where they are kept.
        on_line: Is told each line; None: no line is told.
        cleaned: Returns the text of a line as it may be shown.
    """

    def __init__(
        self,
        kept: KeptLines,
        on_line: Callable[[Line], object] | None,
        cleaned: Callable[[str], str],
    ) -> None:
        self.kept = kept
        self._on_line, self._cleaned = on_line, cleaned
        self._loop = asyncio.get_running_loop()
        self._room = BoundedSemaphore(_MOST_WAITING)
        self.error: Exception | None = None
        """The first that the function raised; it is told nothing after that."""

    def take(self, line: Line) -> None:
        """Take a line, in any thread."""
        line = Line(stream=line.stream, text=self._cleaned(line.text))
        self.kept.add(line)
        if self._on_line is not None and self._room.acquire(timeout=_PATIENCE_SECONDS):
            self._loop.call_soon_threadsafe(self._tell, line)

    def must_be_taken(self) -> None:
        """Raise the error of the function, if it raised one."""
        if self.error is not None:
            raise self.error

    def _tell(self, line: Line) -> None:
        self._room.release()
        if self._on_line is None or self.error is not None:
            return
        try:
            self._on_line(line)
        except Exception as error:  # noqa: BLE001  of foreign code, raised once the program ended
            self.error = error
