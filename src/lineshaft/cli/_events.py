"""The record as lines of JSON, for other programs."""

import json
import os
import select
import signal
import sys
import threading

from lineshaft.values import Event, as_dict


def event_line(event: Event) -> str:
    """Return an event as one line of JSON."""
    return json.dumps(as_dict(event), ensure_ascii=False, separators=(",", ":"))


class EventPrinter:
    """Prints events on standard output as they come.

    Once they are read no longer this process is told to end, so that its run settles: also
    where the run says nothing for a long time, but on Windows, which does not tell it of pipes.
    """

    def __init__(self) -> None:
        self._gone = threading.Lock()
        self._output = sys.stdout  # while tools run, theirs is another
        if sys.platform != "win32" and not self._output.isatty():
            threading.Thread(target=self._watch, daemon=True).start()

    def take(self, event: Event) -> None:
        """Print an event at once."""
        if self._gone.locked():
            return
        try:
            self._output.write(f"{event_line(event)}\n")
            self._output.flush()
        except OSError:
            self._end()

    def _watch(self) -> None:
        if sys.platform != "win32":
            look = select.poll()
            look.register(self._output.fileno(), 0)  # an error and a hang-up are told in any case
            if any(told & (select.POLLERR | select.POLLHUP) for _, told in look.poll()):
                self._end()

    def _end(self) -> None:
        if self._gone.acquire(blocking=False):  # once: a second signal would not let it settle
            os.kill(os.getpid(), signal.SIGTERM)
