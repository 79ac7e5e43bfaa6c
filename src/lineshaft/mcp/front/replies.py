"""Replies to a client about runs and calls: text for its model, and data for programs."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

import mcp_types as types
from msgspec.structs import replace

from lineshaft.mcp.client import BESIDE, decoded
from lineshaft.mcp.front.blocks import MOST_CONTENTS
from lineshaft.mcp.front.client import ToolReply
from lineshaft.session import MODEL_CHARACTERS, Session
from lineshaft.tools import signature
from lineshaft.trace import counted
from lineshaft.values import CallResult, Pending, RunResult, ShownImage, ToolSpec, beginning

_ARGUMENT = 2_000
"""Characters of JSON of one argument of a waiting call."""

_ARGUMENTS = 4_000
"""Characters of JSON of all its arguments, with their names."""

_DIFF = 2_000

_PENDING = 20
"""Waiting calls that are told as data."""

_PART = 3_900
"""Characters of a result that `status` shows at once."""

_PERSON = "a person approves it with `lineshaft resume {run} --approve all` (or --deny all)"
_CLIENT = "call `resume` with approve or deny, once your person has agreed"


def of_run(session: Session, result: RunResult, *, answers: bool) -> ToolReply:
    """Return how a run went.

    Args:
        session: Takes secrets out.
        result: The run's.
        answers: Whether the caller of `resume` may answer what policy asks.
    """
    how = _CLIENT if answers else _PERSON.format(run=result.run_id)
    after = f"{how}; then `resume` with run_id {result.run_id!r} gives the result"
    more = ""
    if result.status == "paused":
        more = f"\nNext: {after}."
    elif result.status == "success":
        more = f"\n(run {result.run_id}, {counted(len(result.calls), 'call')})"
    handled = session.told(result, beside=len(more))
    text = f"{handled.text}{more}"
    data: dict[str, Any] = {**cast("Mapping[str, Any]", handled.structured)}
    data["calls"] = len(result.calls)
    if result.error is not None and result.status != "paused":
        data["error"] = {
            **(data["error"] or {}),
            "line": result.error.line,
            "hint": session.without_secrets(result.error.hint),
        }
    if result.status == "paused":
        waiting = [_waiting(session, each) for each in result.pending[:_PENDING]]
        data |= {"pending": waiting, "next": after}
        data["pending"] = session.without_secrets(data["pending"])
    return ToolReply(text=text, run=data, is_error=handled.is_error, images=handled.images)


def running(run_id: str, *, calls: int, status: str = "running") -> ToolReply:
    """Return that a run has not ended."""
    after = "`status` tells how it goes" if status == "running" else "`resume` lets it go on"
    data = {"run_id": run_id, "status": status, "calls": calls, "next": after}
    text = f"run {run_id} is {status}, {counted(calls, 'call')} made; {after}"
    return ToolReply(text=text, run=data)


def of_call(session: Session, result: CallResult, spec: ToolSpec) -> ToolReply:
    """Return what one call of a tool gave."""
    handled = session.told(result, tool=spec.name)
    if result.error is not None:
        text = handled.text
        if result.error.code == "E_INVALID_ARGS" and not result.error.hint:
            text = session.shown(f"{text}\nIt is called like this: {signature(spec)}")
        return ToolReply(text=text, is_error=True)
    whole = handled.left_out is None
    return ToolReply(
        text=handled.text,
        structured=_as_object(handled.structured, spec),
        value=handled.structured if whole else session.without_secrets(result.value),
        is_error=handled.is_error,
        direct=True,
    )


def of_failure(
    session: Session, result: CallResult, spec: ToolSpec, failed: types.CallToolResult
) -> ToolReply:
    """Return how a tool of a server failed, with the images and the data that came with that.

    Args:
        session: Takes secrets out.
        result: The call's, which has an error.
        spec: The tool.
        failed: What the server answered.
    """
    images: list[ShownImage] = []
    for block in failed.content:
        if isinstance(block, types.ImageContent) and len(images) <= MOST_CONTENTS:
            with suppress(ValueError):  # it is not base64
                images.append(ShownImage(block.mime_type, decoded(block.data)))
    data = session.without_secrets(failed.structured_content)
    fits = len(json.dumps(data, ensure_ascii=False)) <= MODEL_CHARACTERS
    told = of_call(session, result, spec)
    return replace(told, images=tuple(images), structured=data if fits else None)


def of_beside(session: Session, result: CallResult, spec: ToolSpec) -> ToolReply:
    """Return what one call of what a server has beside its tools gave, whole."""
    if result.error is not None:
        return of_call(session, result, spec)
    return ToolReply(text="", value=session.without_secrets(result.value))


async def of_part(session: Session, handle: str, number: int) -> ToolReply:
    """Return one part of a result that was cut.

    Args:
        session: Keeps it.
        handle: The result's.
        number: Of the part, from 1.

    Raises:
        ToolError: The handle is unknown, or its time is over.
    """
    part = await session.result_part(handle, (number - 1) * _PART, _PART)
    count = max(1, -(-part["total"] // _PART))
    if not part["text"] and number > 1:
        return ToolReply(text=f"there is no part {number}: the result has {count}", is_error=True)
    return ToolReply(text=f"{part['text']}\n[part {number} of {count}]")


def _as_object(value: object, spec: ToolSpec) -> object:
    """Return a value as an object, as `structuredContent` has to be; None where it is too long.

    Contents beside it have no place there: they come as blocks, and its schema does not know them.
    """
    if spec.output_schema is None or value is None:
        return None
    if spec.own_name and isinstance(value, dict):
        members = cast("Mapping[str, object]", value)
        value = {name: member for name, member in members.items() if name != BESIDE}
    made = cast("object", value) if isinstance(value, dict) else {"result": value}
    text = json.dumps(made, ensure_ascii=False, default=str)
    return made if len(text) <= MODEL_CHARACTERS else None


def _waiting(session: Session, call: Pending) -> dict[str, Any]:
    given = session.without_secrets(dict(call.arguments))
    arguments: dict[str, object] = {}
    room = _ARGUMENTS
    for name, value in given.items():
        size = len(value) if isinstance(value, str) else len(json.dumps(value, ensure_ascii=False))
        if size <= _ARGUMENT and len(name) + size <= room:
            arguments[name] = value
            room -= len(name) + size
        elif len(name) <= room:
            arguments[name] = None
            room -= len(name)
    known: dict[str, Any] = {"id": call.id, "tool": call.tool, "arguments": arguments}
    if arguments != given:
        known["left_out"] = session.kept(given)
    told = (("reason", call.reason), ("diff", beginning(call.diff, _DIFF, lines=True)))
    return known | {key: text for key, text in told if text}
