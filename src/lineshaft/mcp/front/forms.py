"""Forms for approvals through a client, and the meaning of the answers."""

import json
from collections.abc import Mapping, Sequence

from lineshaft.errors import ToolError
from lineshaft.mcp._text import clean
from lineshaft.mcp.front.client import FilledForm, Form
from lineshaft.values import Answer, Pending, visible

_TICKED = 10
"""Waiting calls that get a box of their own each."""

_SHOWN = 30
"""Waiting calls on one form."""

_LONGEST = 8_000
"""Characters of a form with several calls."""

_ALONE = 30_000
"""Characters of one call; a longer one is not for a form, and waits for a person elsewhere."""

_REASON = 300

ALL, SOME, NONE = "approve all", "approve the ticked", "deny all"


def shown_of(pending: Sequence[Pending]) -> tuple[Pending, ...]:
    """Return the calls that the next form shows, in full: a person approves only what they see.

    None where each of them is too long for a form.
    """
    found: list[Pending] = []
    room = _LONGEST
    for call in pending:
        if len(json.dumps(dict(call.arguments), ensure_ascii=False, default=str)) > _ALONE:
            continue  # megabytes are not made into lines first
        length = len("\n".join(_call(_SHOWN, call)))
        if length > _ALONE:
            continue
        room -= length
        if found and (room < 0 or len(found) == _SHOWN):
            break
        found.append(call)
    return tuple(found)


def approval_form(pending: Sequence[Pending]) -> Form:
    """Return one form for the calls of a run that wait: those of `shown_of`."""
    shown = shown_of(pending)
    count = "A call needs" if len(shown) == 1 else f"{len(shown)} calls need"
    lines = [f"{count} your approval (run {pending[0].run_id}):" if pending else ""]
    for number, call in enumerate(shown, 1):
        lines += _call(number, call)
    if len(pending) > len(shown):
        lines.append(f"{len(pending) - len(shown)} more wait, and are not answered by this form.")
    several = 1 < len(shown) <= _TICKED
    choices = [ALL, SOME, NONE] if several else [ALL, NONE]
    properties: dict[str, object] = {
        "decision": {"type": "string", "title": "Decision", "enum": choices}
    }
    if several:
        properties |= {
            _box(number): {"type": "boolean", "title": f"{number}. {_line(call.tool)}"[:100]}
            for number, call in enumerate(shown, 1)
        }
    properties["reason"] = {"type": "string", "title": "Reason, where denied"}
    schema = {"type": "object", "properties": properties, "required": ["decision"]}
    return Form("\n".join(lines), schema)


def answers_of(pending: Sequence[Pending], filled: FilledForm) -> Mapping[str, Answer]:
    """Return a person's answers by call; none where they left it open.

    Args:
        pending: The calls that the form was made for; those that it showed are answered.
        filled: What the person said.
    """
    shown = shown_of(pending)
    if filled.action == "decline":
        return {call.id: Answer(allow=False, reason="declined") for call in shown}
    decision = filled.content.get("decision")
    if filled.action != "accept" or decision not in (ALL, SOME, NONE):
        return {}
    reason = clean(str(filled.content.get("reason") or ""), _REASON)
    ticked = {
        call.id for number, call in enumerate(shown, 1) if filled.content.get(_box(number)) is True
    }
    return {
        call.id: Answer(
            allow=decision == ALL or (decision == SOME and call.id in ticked), reason=reason
        )
        for call in shown
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
    reason = f" ({_line(call.reason)})" if call.reason else ""
    lines = [f"{number}. {_line(call.tool)}{reason}"]
    for name, value in call.arguments.items():
        # As JSON: what a script gave, names too, cannot look like a line of ours.
        known = name if name.isidentifier() and name.isascii() else _json(name)
        lines.append(f"   {known}: {_json(value)}")
    if call.diff:
        lines += [f"   | {_line(line)}" for line in call.diff.removesuffix("\n").split("\n")]
    return lines


def _json(value: object) -> str:
    return _line(json.dumps(value, ensure_ascii=False, default=str))


def _line(text: str) -> str:
    """Return text as one line on which all is to be seen: what is not is written as its escape."""
    return visible(text, keep="\t")
