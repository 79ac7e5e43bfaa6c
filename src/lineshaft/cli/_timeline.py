"""Timeline of a run, from its record. Pure: no clock, no terminal."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import cast

from lineshaft.cli._shape import counted, took
from lineshaft.cli._terminal import one_line
from lineshaft.cli._tree import tokens_of
from lineshaft.values import Event


class Timeline:
    """Where each call began, and where the run stood still.

    Args:
        events: The record.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._start = datetime.fromisoformat(events[0].at)
        self._asked: dict[str, Event] = {}
        self._tokens: dict[str, int] = {}
        self._answers: dict[str, list[Event]] = {}
        for event in events:
            if event.kind == "call_asked":
                self._asked.setdefault(event.call_id or "", event)
            if event.kind == "usage":
                self._tokens[event.call_id or ""] = tokens_of(event.data)
            if event.kind == "answer":
                self._answers.setdefault(event.call_id or "", []).append(event)
        # The last end is told elsewhere.
        ends = [event for event in events if event.kind in ("run_paused", "run_finished")][:-1]
        self._halts = [e for e in events if e.kind == "run_resumed" or e in ends]

    def since_start(self, call_id: str) -> str:
        """Return how long after the start a call was asked for: `+3 ms`."""
        asked = self._asked.get(call_id)
        if asked is None:
            return ""
        since = datetime.fromisoformat(asked.at) - self._start
        return f"+{took(max(since.total_seconds(), 0) * 1000)}"

    def tokens(self, call_id: str) -> int | None:
        """Return what a request to a model has used; None: it is no such call, or not told."""
        return self._tokens.get(call_id)

    def answers(self, call_id: str) -> Iterator[str]:
        """Yield what people said to a call."""
        for event in self._answers.get(call_id, ()):
            yield answer_text(event)

    def halts(self, *, before: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield, once each, when the run stood still or went on.

        Args:
            before: A call; only what was before it. None: all that is left.
        """
        until = self._asked.get(before or "")
        while self._halts and (before is None or (until and self._halts[0].seq < until.seq)):
            event = self._halts.pop(0)
            yield event.at, _halt_text(event)


def answer_text(event: Event) -> str:
    """Return what an `answer` event says: `approved for this run: "fine"`."""
    said = "approved" if event.data.get("allow") else "refused"
    scope = " for the rest of the run" if event.data.get("scope") == "run" else ""
    reason = one_line(str(event.data.get("reason") or ""))
    return f"{said}{scope}: {reason}" if reason else f"{said}{scope}"


def _halt_text(event: Event) -> str:
    if event.kind == "run_resumed":
        count = event.data.get("answers")
        return f"resumed with {counted(count, 'answer')}" if isinstance(count, int) else "resumed"
    if event.kind == "run_paused":
        pending = event.data.get("pending")
        count = len(cast("list[object]", pending)) if isinstance(pending, list) else 0
        return f"paused: {counted(count, 'call')} waited"
    error = event.data.get("error")
    code = cast("dict[str, object]", error).get("code") if isinstance(error, dict) else None
    return "interrupted: its host died" if code == "E_INTERRUPTED" else "ended"
