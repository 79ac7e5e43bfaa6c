"""The record as lines of JSON, for other programs."""

import json
import sys
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
