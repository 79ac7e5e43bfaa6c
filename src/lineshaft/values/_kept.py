"""What is kept of a run so that it can go on, be replayed or undone: exact, and never shown.

`repr` of these values leaves out all that a script or a tool gave.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lineshaft.values._calls import Done, Effect, Origin, Pending


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCall:
    """One call, exactly as it was made."""

    key: str
    """Its identity in the run."""

    id: str
    tool: str
    arguments: Mapping[str, object] = field(repr=False)
    origin: Origin = "script"
    parent: str | None = None
    effect: Effect = "external"
    staged: bool = False
    """All it did is in the changes that had not landed when it ended."""

    stage: int = 0
    """How many times changes had landed before it started."""

    rule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """What a run was begun with."""

    run_id: str
    workspace: str
    """Which workspace, as the store tells them apart: the real path of its root."""

    document: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    """Script, inputs, limits and all else that whoever goes on needs; JSON-like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPause:
    """Where a run stands while it waits for answers."""

    document: Mapping[str, object] = field(repr=False)
    """JSON-like."""

    blobs: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    """An interpreter's state, staged changes."""

    pending: tuple[Pending, ...] = field(default=(), repr=False)
    """As shown to whoever answers."""

    expires_at: str = ""
    """UTC, ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A call of a kept run that had ended, in the order in which they ended."""

    call: KeptCall
    done: Done = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRun:
    """All that is kept of one run, read back and known to be what was stored."""

    run: KeptRun
    pause: KeptPause | None
    """None: it did not pause; its host died, or it is over and kept for replay."""

    finished: tuple[Finished, ...] = field(repr=False)
    unknown: tuple[KeptCall, ...]
    """Started and not known to have ended."""

    last_seq: int
    """Number of the last event in its record."""

    end: Mapping[str, object] | None = field(default=None, repr=False)
    """What `RunState.over` was told; None: it is not over."""


class RunState(Protocol):
    """Keeps the state of one run while it goes on. Used from the event loop, one at a time a run.

    What is kept of reads and of `staged` calls may be lost when the host dies, unless `flush` or
    anything durable came after; of everything else nothing is.

    Raises:
        StateError: From every method: it cannot be kept; the run must not go on.
    """

    async def started(self, call: KeptCall) -> None:
        """Keep that a call is about to act; on the disk when this returns."""
        ...

    async def finished(self, call: KeptCall, done: Done) -> None:
        """Keep how a call ended; on the disk when this returns, unless it read or was staged."""
        ...

    async def flush(self) -> None:
        """Put all that was kept so far on the disk: before staged changes land."""
        ...

    async def paused(self, pause: KeptPause) -> None:
        """Keep that the run waits for answers; on the disk when this returns."""
        ...

    async def over(self, *, replayable: bool, end: Mapping[str, object] | None = None) -> None:
        """Keep no more than a replay needs, or nothing; the run has ended.

        Args:
            replayable: Whether script, calls and results stay for a replay.
            end: What it came to, JSON-like, to compare a replay with.
        """
        ...
