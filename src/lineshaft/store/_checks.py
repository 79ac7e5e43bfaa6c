"""Checks of rows that another program may have written: a column of SQLite takes any value."""

import json
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from typing import cast

from lineshaft.errors import RecordError, UntrustedState

_TEXTS = ("id", "workspace", "phase", "code", "name", "engine", "origin", "key_id")
_TEXTS_OR_NONE = ("status", "expires_at", "keep_until")
_NUMBERS = ("seq", "event_seq", "lease_no", "owner_pid", "exact_bytes")
_BYTES = ("head", "seal")
_TIMES_IN_SECONDS = ("duration_ms", "lease_until")
_MOST = 2**53
"""Beyond it a number that grows might no longer fit its column."""


def is_whole(row: Mapping[str, object]) -> bool:
    """Return whether the columns of a run's own row have values of their kinds."""
    return (
        all(isinstance(row[name], str) for name in _TEXTS)
        and all(isinstance(row[name], str | None) for name in _TEXTS_OR_NONE)
        and all(isinstance(row[name], bytes) for name in _BYTES)
        and all(_is_count(row[name]) for name in _NUMBERS)
        and isinstance(row["format"], int)
        and isinstance(row["owner_mark"], str)
        and all(_is_finite(row[name]) for name in _TIMES_IN_SECONDS)
        and is_time(row["started_at"])
        and is_time(row["last_at"])
        and _are_names(row["waiting"])
    )


def is_time(value: object) -> bool:
    """Return whether a value is a time with its zone, as the log writes it."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def is_place(event_seq: object, at: object, call_id: object) -> bool:
    """Return whether an event has a number, a time, and the id of a call or none."""
    return _is_count(event_seq) and is_time(at) and isinstance(call_id, str | None)


def damaged_run(run_id: object) -> UntrustedState:
    """Return the error for a run whose own row has values that Lineshaft never writes."""
    return UntrustedState(
        f"run {run_id!s} cannot be read: another program changed its row in the store",
        hint="run the script anew; other runs can be read, and `lineshaft undo` with the whole id"
        " needs no record",
    )


def damaged_event(run_id: str, seq: object) -> RecordError:
    """Return the error for an event that cannot be read."""
    which = f"event {seq}" if isinstance(seq, int) else "an event"
    return RecordError(
        f"{which} of run {run_id!r} is damaged; another program changed the store",
        hint="other runs can be read, and `lineshaft undo` needs no record",
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and isfinite(value)


def _are_names(value: object) -> bool:
    """Return whether a value is a list of texts in JSON."""
    try:
        held: object = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(held, list):
        return False
    return all(isinstance(each, str) for each in cast("list[object]", held))
