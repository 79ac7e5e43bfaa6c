"""JSON that tells runs: a list's line, one run, an event, a changed file.

Pure. All of it comes from the redacted column, and each text is bounded: a record may be as long as
a script has made it. Characters that cannot be seen are written as their escapes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import cast

from lineshaft.remote.protocol import Json
from lineshaft.store import RunSummary
from lineshaft.trace import argument_texts, readable_line
from lineshaft.values import CallRecord, Change, Event, Pending, RunResult, one_line, visible
from lineshaft.workspace import LandedContents

MOST_CALLS = 1_000
MOST_CHANGES = 1_000
_LINE = 300
_TEXT = 4_000
_VALUE = 20_000
_DIFF = 200_000


def run_told(run: RunSummary) -> dict[str, object]:
    """Return what the list says of a run."""
    return {
        "run_id": run.run_id,
        "status": run.status,
        "name": one_line(run.name),
        "origin": run.origin,
        "started": run.started_at,
        "last": run.last_at,
        "duration_ms": run.duration_ms,
        "calls": run.calls,
        "pending": run.pending,
        "expires_at": run.expires_at,
        "process": run.process,
    }


def detail_told(run: RunResult, events: Sequence[Event]) -> dict[str, object]:
    """Return what is said of one run beside its line.

    Args:
        run: What the events add up to.
        events: Its record.
    """
    is_over = any(event.kind in ("run_finished", "run_paused") for event in events[-1:])
    left = {"calls_left_out": max(0, len(run.calls) - MOST_CALLS)}
    left["changes_left_out"] = max(0, len(run.changes) - MOST_CHANGES)
    shown = run.calls[-MOST_CALLS:]
    return {
        "call_list": [_call(call, run.calls, is_over=is_over) for call in shown],
        "changes": [_change(change) for change in run.changes[:MOST_CHANGES]],
        "waiting": [_waiting(call) for call in run.pending],
        "error": None if run.error is None or not is_over else _error(asdict(run.error)),
        **left,
    }


def _call(call: CallRecord, among: Sequence[CallRecord], *, is_over: bool) -> dict[str, object]:
    status: str = call.status
    if not is_over and call.error is None:  # a run that goes on: no end of a call is none yet
        status = {"unknown": "running", "cancelled": "pending"}.get(call.status, call.status)
    return {
        "id": call.id,
        "parent": call.parent,
        "tool": one_line(call.tool),
        "text": readable_line(call, among, width=_LINE),
        "status": status,
        "duration_ms": call.duration_ms,
        "rule": one_line(call.rule),
        "error": None if call.error is None else _error(asdict(call.error)),
    }


def _change(change: Change) -> dict[str, object]:
    return asdict(change)


def _waiting(call: Pending) -> dict[str, object]:
    texts = argument_texts(call.tool, call.arguments).items()
    lines = [f"{_json(name)}: {_json(value)}" for name, value in texts]
    return {
        "id": call.id,
        "tool": one_line(call.tool),
        "text": _cut("\n".join(map(visible, lines)), _VALUE),
        "reason": visible(call.reason or call.rule),
        "diff": _cut(call.diff, _DIFF),
        "holds_for": visible(call.holds_for),
    }


def event_told(event: Event) -> Json | None:
    """Return what is said of an event to who watches a run; None: nothing.

    Arguments come as one line, output and values bounded.
    """
    data = event.data
    told: dict[str, object] = {"run_id": event.run_id, "kind": event.kind, "call": event.call_id}
    match event.kind:
        case "run_started" | "run_resumed":
            return told
        case "call_asked":
            arguments = cast("Mapping[str, object]", data.get("arguments", {}))
            call = CallRecord(
                id=event.call_id or "",
                tool=str(data.get("tool", "")),
                arguments=arguments,
                status="pending",
                parent=cast("str | None", data.get("parent")),
            )
            return {**told, "text": readable_line(call, (), width=_LINE), "parent": call.parent}
        case "verdict":
            if data.get("verdict") != "ask":
                return None
            return {**told, "text": one_line(str(data.get("reason") or data.get("rule") or ""))}
        case "answer":
            return {**told, "allow": bool(data.get("allow"))}
        case "call_started":
            return told
        case "call_finished":
            error = data.get("error")
            return {
                **told,
                "status": str(data.get("status", "")),
                "duration_ms": data.get("duration_ms", 0),
                "error": None if error is None else _error(cast("Mapping[str, object]", error)),
            }
        case "output" | "log" | "progress":
            return {**told, "text": _cut(str(data.get("text", "")), _TEXT)}
        case "changes":
            changes = cast("Sequence[Mapping[str, object]]", data.get("changes", ()))
            return {**told, "changes": [dict(each) for each in changes[:MOST_CHANGES]]}
        case _:
            return None


def change_told(landed: LandedContents, redact: Callable[[str], str]) -> Json:
    """Return a file before and after, without secrets; a note where it is no text.

    Args:
        landed: Its contents.
        redact: Takes secrets out of a text.
    """
    try:
        before, after = (
            None if data is None else redact(data.decode("utf-8"))
            for data in (landed.before, landed.after)
        )
    except UnicodeDecodeError:
        return {"before": None, "after": None, "note": "it is no text in UTF-8: there is no diff"}
    return {"before": before, "after": after, "note": ""}


def _error(error: Mapping[str, object]) -> dict[str, str]:
    return {
        "code": one_line(str(error.get("code", ""))),
        "message": _cut(visible(str(error.get("message", "")), keep="\n"), _TEXT),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n… {left:,} more characters are left out"
