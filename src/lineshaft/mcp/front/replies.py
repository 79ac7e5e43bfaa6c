"""How runs and calls are told to a client: as text for its model, and as data."""

import json
from collections.abc import Mapping
from typing import Any, cast

from lineshaft.mcp.front.client import ToolReply
from lineshaft.mcp.front.direct import shape_of
from lineshaft.session import Session
from lineshaft.tools import signature
from lineshaft.values import CallResult, Pending, RunResult, ToolSpec

VALUE_BYTES = 200_000
"""A script's value whose JSON is longer is told by its size and beginning."""

_ARGUMENTS = 20_000
_BEGINNING = 2_000
_PERSON = "a person approves it with `lineshaft resume {run} --approve all` (or --deny all)"
_CLIENT = "call `resume` with approve or deny, once your person has agreed"


def of_run(session: Session, result: RunResult, *, answers: bool) -> ToolReply:
    """Return how a run went.

    Args:
        session: Takes secrets out.
        result: The run's.
        answers: Whether whoever calls `resume` may answer what policy asks.
    """
    handled = session.told(result)
    text = handled.text
    data: dict[str, Any] = {**cast("Mapping[str, Any]", handled.structured)}
    data["value"] = _bounded(data["value"])
    data["calls"] = len(result.calls)
    if result.error is not None and result.status != "paused":
        data["error"] = {
            **(data["error"] or {}),
            "line": result.error.line,
            "hint": session.without_secrets(result.error.hint),
        }
    if result.status == "paused":
        how = _CLIENT if answers else _PERSON.format(run=result.run_id)
        after = f"{how}; then `resume` with run_id {result.run_id!r} gives the result"
        data |= {"pending": [_waiting(each) for each in result.pending], "next": after}
        text = f"{text}\nNext: {after}."
        data["pending"] = session.without_secrets(data["pending"])
    elif result.status == "success":
        text = f"{text}\n(run {result.run_id}, {len(result.calls)} calls)"
    return ToolReply(text=text, structured=data, is_error=handled.is_error)


def running(run_id: str, *, calls: int, status: str = "running") -> ToolReply:
    """Return that a run has not ended."""
    after = "`status` tells how it goes" if status == "running" else "`resume` lets it go on"
    data = {"run_id": run_id, "status": status, "calls": calls, "next": after}
    text = f"run {run_id} is {status}, {calls} calls made; {after}"
    return ToolReply(text=text, structured=data)


def of_call(session: Session, result: CallResult, spec: ToolSpec) -> ToolReply:
    """Return what one call of a tool gave."""
    handled = session.told(result, tool=spec.name)
    if result.error is not None:
        text = handled.text
        if result.error.code == "E_INVALID_ARGS":
            text = f"{text}\nIt is called like this: {session.without_secrets(signature(spec))}"
        return ToolReply(text=text, is_error=True)
    shape = shape_of(spec)
    return ToolReply(
        text=handled.text,
        structured=shape.wrap(handled.structured) if shape else None,
        value=handled.structured,
        is_error=handled.is_error,
        direct=True,
    )


def _bounded(value: object, most: int = VALUE_BYTES) -> object:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= most:
        return value
    return {"bytes": len(text.encode("utf-8", "replace")), "beginning": text[:_BEGINNING]}


def _waiting(call: Pending) -> dict[str, Any]:
    arguments = _bounded(dict(call.arguments), _ARGUMENTS)
    known = {"id": call.id, "tool": call.tool, "arguments": arguments}
    return known | {
        key: text for key, text in (("reason", call.reason), ("diff", call.diff)) if text
    }
