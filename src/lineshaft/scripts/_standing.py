"""Where a run stands while it waits: to what is kept, and back."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

from lineshaft.errors import UntrustedState
from lineshaft.gate import Standing
from lineshaft.values import (
    Answer,
    CallError,
    CallRecord,
    Finding,
    KeptPause,
    Stream,
    Tape,
    Usage,
)

FORMAT = 1
"""Of the documents in run states; others are refused."""

Printed = Mapping[Stream, tuple[int, bytes, bytes]]
Data = Mapping[str, object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """All that a later part of a run goes on from, beside what it was begun with."""

    standing: Standing
    calls: tuple[CallRecord, ...]
    usage: Usage
    seconds_used: float
    duration_ms: float
    printed: Printed = field(default_factory=dict[Stream, tuple[int, bytes, bytes]])
    findings: tuple[Finding, ...] = ()
    engine_reason: str = ""
    tape: Tape | None = None
    engine: bytes | None = None
    """The interpreter's state; None: the script is executed again."""

    view: bytes = b""
    """Staged changes, and what was seen of the workspace."""

    learnt: tuple[CallRecord, ...] = ()
    """How calls ended, as far as it is known, of which the record has no end."""


def expiry(hours: float) -> str:
    """Return when a pause that begins now is over, in UTC, ISO 8601."""
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")


def pause_of(halt: Halt, *, expires_at: str) -> KeptPause:
    """Return what is kept of a run that waits."""
    document: dict[str, object] = {
        "format": FORMAT,
        "keys": dict(halt.standing.keys),
        "seen": dict(halt.standing.seen),
        "for_the_run": {rule: asdict(a) for rule, a in halt.standing.for_the_run.items()},
        "shown": dict(halt.standing.shown),
        "made": list(halt.standing.made),
        "calls": [asdict(call) for call in halt.calls],
        "usage": asdict(halt.usage),
        "seconds_used": halt.seconds_used,
        "duration_ms": halt.duration_ms,
        "printed": {
            stream: [total, _text(head), _text(tail)]
            for stream, (total, head, tail) in halt.printed.items()
        },
        "findings": [asdict(finding) for finding in halt.findings],
        "engine_reason": halt.engine_reason,
        "tape": None if halt.tape is None else asdict(halt.tape),
    }
    blobs = {"view": halt.view}
    if halt.engine is not None:
        blobs["engine"] = halt.engine
    return KeptPause(
        document=document, blobs=blobs, pending=halt.standing.pending, expires_at=expires_at
    )


def halt_of(pause: KeptPause) -> Halt:
    """Return what `pause_of` was given.

    Raises:
        UntrustedState: It is of another version.
    """
    document = pause.document
    if document.get("format") != FORMAT:
        raise UntrustedState(
            f"the paused run has format {document.get('format')!r}, and this version has {FORMAT}",
            hint="resume it with the version that paused it",
        )
    printed = cast("Mapping[Stream, tuple[int, str, str]]", document["printed"])
    return Halt(
        standing=Standing(
            pending=tuple(pause.pending),
            keys=cast("Mapping[str, str]", document["keys"]),
            seen=cast("Mapping[str, int]", document["seen"]),
            for_the_run={
                rule: _made(Answer, given)
                for rule, given in cast("Mapping[str, Data]", document["for_the_run"]).items()
            },
            shown=cast("Mapping[str, Mapping[str, str | None]]", document.get("shown", {})),
            made=cast("list[str]", document.get("made", [])),
        ),
        calls=tuple(_call(each) for each in cast("list[Data]", document["calls"])),
        usage=_made(Usage, document["usage"]),
        seconds_used=cast("float", document["seconds_used"]),
        duration_ms=cast("float", document["duration_ms"]),
        printed={
            stream: (total, _bytes(head), _bytes(tail))
            for stream, (total, head, tail) in printed.items()
        },
        findings=tuple(_made(Finding, each) for each in cast("list[Data]", document["findings"])),
        engine_reason=str(document["engine_reason"]),
        tape=None if document["tape"] is None else _made(Tape, document["tape"]),
        engine=pause.blobs.get("engine"),
        view=pause.blobs["view"],
    )


def _made(kind: Callable[..., T], data: object) -> T:
    """Return a value that `asdict` took apart."""
    return kind(**cast("dict[str, object]", data))


def _call(data: Data) -> CallRecord:
    error = None if data["error"] is None else _made(CallError, data["error"])
    return _made(CallRecord, {**data, "error": error})


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
