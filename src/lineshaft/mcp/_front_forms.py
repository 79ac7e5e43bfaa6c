"""What a person approves through a client, and what their answer means."""

import json
from collections.abc import Mapping, Sequence

from lineshaft.errors import ToolError
from lineshaft.mcp._front_client import Filled, Form
from lineshaft.mcp._text import clean
from lineshaft.values import Answer, Pending

_TICKED = 10
"""Waiting calls that get a box of their own each."""

_SHOWN = 30
_ARGUMENT = 300
_DIFF_LINES = 40
_LONGEST = 8_000

ALL, SOME, NONE = "approve all", "approve the ticked", "deny all"


def approval_form(pending: Sequence[Pending]) -> Form:
    """Return one form for all calls of a run that wait."""
    count = "A call needs" if len(pending) == 1 else f"{len(pending)} calls need"
    lines = [f"{count} your approval (run {pending[0].run_id}):" if pending else ""]
    for number, call in enumerate(pending[:_SHOWN], 1):
        lines += _call(number, call)
    if len(pending) > _SHOWN:
        lines.append(f"... and {len(pending) - _SHOWN} more")
    several = 1 < len(pending) <= _TICKED
    choices = [ALL, SOME, NONE] if several else [ALL, NONE]
    properties: dict[str, object] = {
        "decision": {"type": "string", "title": "Decision", "enum": choices}
    }
    if several:
        properties |= {
            _box(number): {"type": "boolean", "title": f"{number}. {call.tool}"[:100]}
            for number, call in enumerate(pending, 1)
        }
    properties["reason"] = {"type": "string", "title": "Reason, where denied"}
    schema = {"type": "object", "properties": properties, "required": ["decision"]}
    return Form(clean("\n".join(lines), _LONGEST), schema)


def answers_of(pending: Sequence[Pending], filled: Filled) -> Mapping[str, Answer]:
    """Return a person's answers by call; none where they left it open."""
    if filled.action == "decline":
        return {call.id: Answer(allow=False, reason="declined") for call in pending}
    decision = filled.content.get("decision")
    if filled.action != "accept" or decision not in (ALL, SOME, NONE):
        return {}
    reason = clean(str(filled.content.get("reason") or ""), _ARGUMENT)
    ticked = {
        call.id
        for number, call in enumerate(pending, 1)
        if filled.content.get(_box(number)) is True
    }
    return {
        call.id: Answer(
            allow=decision == ALL or (decision == SOME and call.id in ticked), reason=reason
        )
        for call in pending
    }


def answers_by_id(
    pending: Sequence[Pending], *, approve: Sequence[str], deny: Sequence[str], reason: str
) -> Mapping[str, Answer]:
    """Return answers that came as arguments of `resume`.

    Raises:
        ToolError: `E_INVALID_ARGS`: an id is not that of a waiting call, or is in both.
    """
    ids = {call.id for call in pending}
    yes, no = (ids if "all" in given else set(given) for given in (approve, deny))
    if "all" in approve and deny and "all" not in deny:
        yes = ids - no
    if "all" in deny and approve and "all" not in approve:
        no = ids - yes
    unknown = sorted((yes | no) - ids)
    if unknown or yes & no:
        why = f"no call {unknown[0]!r} waits" if unknown else "a call is both approved and denied"
        there = ", ".join(sorted(ids)) or "none"
        raise ToolError("E_INVALID_ARGS", f"{why}; there are: {there}")
    return {each: Answer(allow=each in yes, reason=reason) for each in yes | no}


def _box(number: int) -> str:
    return f"call_{number}"


def _call(number: int, call: Pending) -> list[str]:
    reason = f" ({call.reason})" if call.reason else ""
    lines = [f"{number}. {call.tool}{reason}"]
    for name, value in call.arguments.items():
        # As JSON: what a script gave cannot look like a line of ours.
        text = json.dumps(value, ensure_ascii=False, default=str)
        text = text if len(text) <= _ARGUMENT else f"{text[:_ARGUMENT]}..."
        lines.append(f"   {name}: {text}")
    diff = call.diff.splitlines()
    lines += [f"   | {line}" for line in diff[:_DIFF_LINES]]
    if len(diff) > _DIFF_LINES:
        lines.append(f"   | ... {len(diff) - _DIFF_LINES} more lines")
    return lines
