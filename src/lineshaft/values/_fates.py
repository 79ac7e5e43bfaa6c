"""The fate of the changes that a run staged, in a sentence."""

from lineshaft.values._enumeration import counted, first_few
from lineshaft.values._runs import UNDONE_BY_CANCEL, CallRecord, RunResult

_NAMED = 3


def fate_of_changes(result: RunResult) -> str:
    """Return a sentence about changes that did not land; empty where all landed.

    Args:
        result: How the run ended.
    """
    if result.status == "paused":
        last = max((change.stage for change in result.changes), default=0)
        waiting = [c for c in result.changes if c.stage == last and not result.landed]
        return f"{counted(len(waiting), 'change')} staged" if waiting else ""
    if not result.dropped:
        return ""
    parts = [f"{counted(len(result.dropped), 'staged change')} dropped"]
    there = [change for change in result.changes if change not in result.dropped]
    stages = sorted({change.stage for change in there if change.stage})
    parts += [
        f"stage {stage} ({counted(sum(c.stage == stage for c in there), 'file')}) had landed"
        for stage in stages
    ]
    doubtful = dict.fromkeys(f"`{call.tool}`" for call in result.calls if _acts_beyond(call))
    if doubtful:
        names = list(doubtful)
        parts.append(f"{first_few(names, _NAMED)} may have changed more")
    elif not there:
        parts.append("the disk is unchanged")
    return "; ".join(parts)


def is_dropped(call: CallRecord, result: RunResult) -> bool:
    """Return whether a call's changes were staged and never reached the disk."""
    landings = max((c.stage for c in result.changes if c not in result.dropped), default=0)
    return (
        bool(result.dropped)
        and call.status == "done"
        and call.staged_after is not None
        and call.staged_after >= landings
    )


def _acts_beyond(call: CallRecord) -> bool:
    if call.status == "cancelled" and call.tool == UNDONE_BY_CANCEL:
        return False
    started = call.status in ("done", "failed", "unknown") or call.duration_ms > 0
    return started and call.staged_after is None and call.effect not in (None, "read", "model")
