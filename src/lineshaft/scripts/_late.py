"""A record that begins late: a run that only read so far left none, and now does more."""

from collections.abc import Mapping

from lineshaft.gate import Book
from lineshaft.trace import Recorder
from lineshaft.values import CallRecord, Stream

_STARTED = ("done", "failed", "unknown")


def catch_up(
    recorder: Recorder, book: Book, *, started: Mapping[str, object], texts: Mapping[Stream, str]
) -> None:
    """Record what a run has done until now, in the order in which its calls came.

    Args:
        recorder: Of this run, new.
        book: The run's calls.
        started: What `run_started` says.
        texts: What it printed until now.
    """
    recorder.note("run_started", None, **started)
    for entry, call in zip(book.entries.values(), book.records(), strict=True):
        recorder.note(
            "call_asked",
            call.id,
            tool=call.tool,
            arguments=call.arguments,
            origin=entry.call.origin,
            parent=call.parent,
            effect=call.effect,
        )
        if entry.verdict is not None:
            recorder.note("verdict", call.id, **entry.verdict)
        if call.status in _STARTED:
            recorder.note("call_started", call.id)
        if call.status != "pending":
            recorder.note("call_finished", call.id, **ending(call))
    for stream, text in texts.items():
        if text:
            recorder.note("output", None, stream=stream, text=text)


def ending(call: CallRecord) -> dict[str, object]:
    """Return what `call_finished` says of a call that ended earlier."""
    return {
        "status": call.status,
        "duration_ms": call.duration_ms,
        "error": call.error,
        "bytes": 0,
        "staged_after": call.staged_after,
    }
