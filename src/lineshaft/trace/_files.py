"""Records as files: one JSON line an event."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self, cast, get_args

from lineshaft.errors import RecordError
from lineshaft.files import made_private
from lineshaft.values import Event, EventKind

_KINDS = frozenset(get_args(EventKind))
_KEYS = Event.__struct_fields__
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


class JsonlSink:
    """Appends events to a file that it created; use `jsonl_sink`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            made_private(path.parent)
            self._fd = os.open(path, _FLAGS, 0o600)
        except OSError as error:
            raise _cannot("be created", path, error) from error
        self._size = 0
        self._closed = False

    def __call__(self, event: Event) -> None:
        """Write one event through to the operating system.

        Raises:
            RecordError: It cannot be written; the file then ends with the event before.
        """
        if self._closed:
            raise RecordError(f"the record {self.path.name!r} is closed; no event can follow")
        line = {key: getattr(event, key) for key in _KEYS}
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate becomes the escape that JSON has for it.
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        try:
            written = 0
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            self._take_back()
            raise _cannot("be written", self.path, error) from error
        self._size += len(data)

    def close(self) -> None:
        """Close the file; closing twice is fine."""
        if not self._closed:
            self._closed = True
            os.close(self._fd)

    def __enter__(self) -> Self:
        """Return the sink itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def _take_back(self) -> None:
        """Remove the half of a line that a full disk leaves."""
        try:
            os.ftruncate(self._fd, self._size)
            os.lseek(self._fd, self._size, os.SEEK_SET)
        except OSError:
            self.close()  # a pipe or a dead disk: better no record than a garbled one


def jsonl_sink(path: str | Path) -> JsonlSink:
    """Return a sink that appends each event to a new file as one line of JSON.

    The file is created with mode 0600 and must not exist; folders that are missing get mode 0700.
    Each event reaches the operating system before the sink returns.

    Raises:
        RecordError: The file exists, or cannot be created.
    """
    return JsonlSink(Path(path))


def read_events(path: str | Path) -> list[Event]:
    """Return the events of a record; a last line that was torn by a crash is left out.

    Raises:
        RecordError: There is no such file, or some other line is not an event.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise _cannot("be read", path, error) from error
    torn = lines.pop()
    events = [_event(path, at, line) for at, line in enumerate(lines, 1) if line.strip()]
    try:
        return [*events, _event(path, len(lines) + 1, torn)] if torn.strip() else events
    except RecordError:
        return events


def _event(path: Path, at: int, line: bytes) -> Event:
    try:
        data = cast("object", json.loads(line))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise _garbled(path, at, "is not an event")
    given = cast("dict[str, object]", data)
    if set(given) != set(_KEYS) or given["kind"] not in _KINDS:
        raise _garbled(path, at, f"has no event's keys ({', '.join(_KEYS)}), or an unknown kind")
    return cast("Callable[..., Event]", Event)(**given)


def _garbled(path: Path, at: int, what: str) -> RecordError:
    return RecordError(
        f"line {at} of the record {path.name!r} {what}; the file was changed by another program"
    )


def _cannot(what: str, path: Path, error: OSError) -> RecordError:
    return RecordError(f"the record {path.name!r} cannot {what}: {error.strerror or error}")
