"""The record as lines of JSON, for other programs."""

import json
import os
import select
import signal
import sys
import threading
from dataclasses import asdict

from lineshaft.errors import RecordError
from lineshaft.values import Event


def event_line(event: Event) -> str:
    """Return an event as one line of JSON."""
    return json.dumps(asdict(event), ensure_ascii=False, separators=(",", ":"))


def print_event(event: Event) -> None:
    """Print an event on standard output at once.

    Raises:
        RecordError: Nobody reads it any longer: the run ends, as with every record that cannot be
            written.
    """
    try:
        sys.stdout.write(f"{event_line(event)}\n")
        sys.stdout.flush()
    except OSError as error:
        raise RecordError(f"the record cannot be printed: {error.strerror}") from error


def end_without_reader() -> None:
    """Have this process told to end once nobody reads its standard output any longer.

    A run that says nothing for a long time would not see that who began it is gone. Windows does
    not tell it of pipes: there a run ends with its next event.
    """
    if sys.platform == "win32" or sys.stdout.isatty():
        return
    look = select.poll()
    look.register(sys.stdout.fileno(), 0)  # an error and a hang-up are told in any case

    def wait() -> None:
        if any(told & (select.POLLERR | select.POLLHUP) for _, told in look.poll()):
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
