"""The state of a run that waits: conversion to its kept form, and back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta

from lineshaft.errors import UntrustedState
from lineshaft.gate import PausePoint
from lineshaft.values import (
    Answer,
    CallRecord,
    DecodeError,
    Finding,
    KeptPause,
    Usage,
    decode,
)

FORMAT = 4
"""Of the documents in run states; others are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state from which a later part of a run goes on, beside that of its beginning."""

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


def pause_of(checkpoint: Checkpoint, *, expires_at: str) -> KeptPause:
    """Return the kept form of a run that waits."""
    document: dict[str, object] = {
        "format": FORMAT,
        "keys": dict(checkpoint.pause_point.keys),
        "for_the_run": {rule: asdict(a) for rule, a in checkpoint.pause_point.for_the_run.items()},
        "shown": dict(checkpoint.pause_point.shown),
        "dropped": list(checkpoint.pause_point.dropped),
        "standing": list(checkpoint.pause_point.standing),
        "approved": list(checkpoint.pause_point.approved),
        "calls": [asdict(call) for call in checkpoint.calls],
        "usage": asdict(checkpoint.usage),
        "seconds_used": checkpoint.seconds_used,
        "duration_ms": checkpoint.duration_ms,
        "findings": [asdict(finding) for finding in checkpoint.findings],
        "engine_reason": checkpoint.engine_reason,
        "modules": dict(checkpoint.modules),
    }
    return KeptPause(
        document=document,
        blobs={"view": checkpoint.view},
        pending=checkpoint.pause_point.pending,
        expires_at=expires_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckpointDocument:
    """The same as `pause_of` writes it, but for what a `KeptPause` holds beside it."""

    format: int
    keys: Mapping[str, str]
    for_the_run: Mapping[str, Answer]
    shown: Mapping[str, Mapping[str, str | None]]
    dropped: tuple[str, ...]
    standing: tuple[str, ...]
    approved: tuple[str, ...]
    calls: tuple[CallRecord, ...]
    usage: Usage
    seconds_used: float
    duration_ms: float
    findings: tuple[Finding, ...]
    engine_reason: str
    modules: Mapping[str, str]


def checkpoint_of(pause: KeptPause) -> Checkpoint:
    """Return the state that `pause_of` was given.

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
        document = decode(_CheckpointDocument, pause.document)
    except DecodeError as error:
        raise UntrustedState(f"what was kept of the paused run is damaged: {error}") from error
    return Checkpoint(
        pause_point=PausePoint(
            pending=tuple(pause.pending),
            keys=document.keys,
            for_the_run=document.for_the_run,
            shown=document.shown,
            dropped=document.dropped,
            standing=document.standing,
            approved=document.approved,
        ),
        calls=document.calls,
        usage=document.usage,
        seconds_used=document.seconds_used,
        duration_ms=document.duration_ms,
        findings=document.findings,
        engine_reason=document.engine_reason,
        modules=document.modules,
        view=pause.blobs["view"],
    )
