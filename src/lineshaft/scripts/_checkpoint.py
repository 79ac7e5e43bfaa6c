"""The state from which a run goes on: what its record tells, and what its pause keeps beside it."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from msgspec import field

from lineshaft.errors import UntrustedState
from lineshaft.gate import PausePoint
from lineshaft.values import (
    Answer,
    CallRecord,
    DecodeError,
    Finding,
    KeptPause,
    RunResult,
    Struct,
    Usage,
    as_dict,
    decode,
)

FORMAT = 5
"""Of the documents in run states; others are refused."""


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The state from which a later segment of a run goes on, beside that of its beginning."""

    pause_point: PausePoint
    calls: tuple[CallRecord, ...]
    usage: Usage
    seconds_used: float
    duration_ms: float
    findings: tuple[Finding, ...] = ()
    engine_reason: str = ""
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    """Modules of the workspace that the script imported: sha256 of each text, by path."""

    view: bytes = b""
    """Staged changes, and the versions seen of the workspace."""

    learnt: tuple[CallRecord, ...] = ()
    """How calls ended, as far as it is known, of which the record has no end."""


def expiry(hours: float) -> str:
    """Return when a pause that begins now is over, in UTC, ISO 8601."""
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")


def pause_of(
    pause_point: PausePoint,
    *,
    seconds_used: float,
    modules: Mapping[str, str],
    view: bytes,
    expires_at: str,
) -> KeptPause:
    """Return what is kept of a run that waits: what no other row of its log has.

    Args:
        pause_point: The state that the gate needs.
        seconds_used: Of its time.
        modules: As `Checkpoint.modules`.
        view: As `Checkpoint.view`.
        expires_at: When the pause is over, in UTC, ISO 8601.
    """
    document: dict[str, object] = {
        "format": FORMAT,
        "keys": dict(pause_point.keys),
        "for_the_run": {key: as_dict(a) for key, a in pause_point.for_the_run.items()},
        "shown": dict(pause_point.shown),
        "schemas": dict(pause_point.schemas),
        "dropped": list(pause_point.dropped),
        "standing": list(pause_point.standing),
        "approved": list(pause_point.approved),
        "seconds_used": seconds_used,
        "modules": dict(modules),
    }
    return KeptPause(
        document=document,
        blobs={"view": view},
        pending=pause_point.pending,
        expires_at=expires_at,
    )


class PauseDocument(Struct, frozen=True, kw_only=True):
    """The document of a pause, as `pause_of` writes it."""

    format: int
    keys: Mapping[str, str]
    for_the_run: Mapping[str, Answer]
    shown: Mapping[str, Mapping[str, str | None]]
    dropped: tuple[str, ...]
    standing: tuple[str, ...]
    approved: tuple[str, ...]
    seconds_used: float
    modules: Mapping[str, str]
    schemas: Mapping[str, str] = field(default_factory=dict[str, str])
    """An earlier build does not write it."""


def document_of(pause: KeptPause) -> PauseDocument:
    """Return what `pause_of` has written.

    Raises:
        UntrustedState: It is of another version, or damaged.
    """
    version = pause.document.get("format")
    if version != FORMAT:
        raise UntrustedState(
            f"the paused run has format {version!r}, and this version has {FORMAT}",
            hint="resume it with the version that paused it",
        )
    try:
        return decode(PauseDocument, pause.document)
    except DecodeError as error:
        raise UntrustedState(f"what was kept of the paused run is damaged: {error}") from error


def checkpoint_of(pause: KeptPause, told: RunResult) -> Checkpoint:
    """Return the state from which a paused run goes on.

    Args:
        pause: What is kept of it.
        told: The result that its record gives.

    Raises:
        UntrustedState: What is kept is of another version, or damaged.
    """
    document = document_of(pause)
    return Checkpoint(
        pause_point=PausePoint(
            pending=tuple(pause.pending),
            keys=document.keys,
            for_the_run=document.for_the_run,
            shown=document.shown,
            schemas=document.schemas,
            dropped=document.dropped,
            standing=document.standing,
            approved=document.approved,
        ),
        calls=told.calls,
        usage=told.usage,
        seconds_used=document.seconds_used,
        duration_ms=told.duration_ms,
        findings=told.findings,
        engine_reason=told.engine_reason,
        modules=document.modules,
        view=pause.blobs["view"],
    )
