"""Summaries of many runs."""

from lineshaft.values import Struct


class RunSummary(Struct, frozen=True, kw_only=True):
    """One line of a list of runs."""

    run_id: str
    """Unique among all runs."""

    workspace: str
    """The real path of its root."""

    started_at: str
    """UTC, ISO 8601."""

    last_at: str
    """When its last event was."""

    status: str
    """Its status at the end; or `running`, `paused`, `interrupted` (its host died), `expired` (no
    answer in time), `damaged` (another program changed its row; nothing else of it is told)."""

    name: str = ""
    """The name of its script, or of the tool that was called."""

    engine: str = ""
    """The engine that executed its script."""

    origin: str = ""
    """The way it came in."""

    duration_ms: float = 0
    """Milliseconds that it took."""

    calls: int = 0
    """Calls that it made."""

    waiting: tuple[str, ...] = ()
    """Tools of the calls that wait for an answer."""

    expires_at: str | None = None
    """Until when a paused run waits."""

    process: int | None = None
    """The process of this machine that works on it; None: none does, or it is not known here."""

    @property
    def pending(self) -> int:
        """How many calls wait for an answer."""
        return len(self.waiting)


class Pruned(Struct, frozen=True, kw_only=True):
    """The numbers of deleted runs and states."""

    records: int
    """Runs whose record is gone."""

    states: int
    """Runs that can no longer be resumed or replayed."""

    run_ids: tuple[str, ...] = ()
    """Those whose record is gone."""
