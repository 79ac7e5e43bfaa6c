"""Texts for a client of a front before its first call. Imports nothing of the MCP SDK.

All of it has a fixed budget, however many tools there are behind the front: what is told of them is
how many each namespace has, as far as there is room.
"""

from collections.abc import Mapping, Set
from typing import Any

from lineshaft.session import Session

_NAMESPACES = 600
"""Characters that the list of namespaces may have."""

_ABOUT = """\
Lineshaft: one Python script drives many tools, under one policy, with a record.
1. `search` finds tools by words. 2. `describe` gives their signatures. 3. `run` carries out one \
script that calls them; only what it prints and returns comes back.
A script helps where calls depend on earlier results, where there are many of them, or where their \
results are large: loop, filter and join there. It does not help for two or three calls{direct}.
A result `paused` means that a person must approve; `status` and `resume` take its run_id.
"""

_ALONE = " that you could make in one turn: then keep the script to these calls"
_DIRECT = ": make those directly, with the tools that are listed beside these"

_NO_SCRIPTS = """\
Lineshaft: tools under one policy, with a record. Scripts do not run here{mode}. {direct}
"""

_LISTED = "Call the tools that are listed beside `search` and `describe`: these find no others."
_NOTHING = (
    "No tool is offered for direct calls either: `lineshaft serve --direct NAME` offers some."
)

_RUN = """\
Run one Python script over the tools; only what it prints and returns comes back. `describe` them \
first.
"""

_RESUME = "Let a paused run go on, or get its end."
_ANSWERS = """ With `approve` and `deny` (ids of waiting calls, or "all") the calls are answered."""


def _texts(text: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": text}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    made = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


_RUN_ID = {"type": "string", "description": "From `run`."}


def front_tools(session: Session, *, answers: bool = False) -> list[dict[str, Any]]:
    """Return the tools of a front, as `tools/list` tells them.

    Args:
        session: What stands behind it.
        answers: Whether `resume` takes answers.
    """
    guide = session.guide()
    found = [_search(), _describe()]
    if guide:
        found += [_run(guide, session.limits.longest), _resume(answers=answers)]
        found.append(_status())
    return found


def _tool(name: str, text: str, *, takes: object, reads: bool) -> dict[str, Any]:
    hints: dict[str, Any] = {"readOnlyHint": reads}
    if not reads:
        hints |= {"destructiveHint": True, "openWorldHint": True}
    return {
        "name": name,
        "description": text,
        "inputSchema": takes,
        "annotations": hints,
    }


def _search() -> dict[str, Any]:
    takes = _object(
        {
            "words": {"type": "string"},
            "namespace": {"type": ["string", "null"]},
            "detail": {"type": "string", "enum": ["brief", "full"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        "words",
    )
    text = "Find tools by words for what they do."
    return _tool("search", text, takes=takes, reads=True)


def _describe() -> dict[str, Any]:
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 30}
    text = "Get signatures and descriptions of tools, to write a script."
    return _tool("describe", text, takes=_object({"names": names}, "names"), reads=True)


def _run(guide: str, most: float) -> dict[str, Any]:
    takes = _object(
        {
            "code": {"type": "string"},
            "args": {"type": "array", "items": {}},
            "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": most},
            "background": {"type": "boolean", "description": "Return at once; then `status`."},
        },
        "code",
    )
    return _tool("run", f"{_RUN}{guide}".rstrip(), takes=takes, reads=False)


def _resume(*, answers: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"run_id": _RUN_ID}
    if answers:
        properties |= {
            "approve": _texts("Ids."),
            "deny": _texts("Ids."),
            "reason": {"type": "string", "description": "Why denied."},
        }
    text = _RESUME + _ANSWERS if answers else _RESUME
    return _tool("resume", text, takes=_object(properties, "run_id"), reads=False)


def _status() -> dict[str, Any]:
    takes = _object(
        {
            "run_id": {"type": "string", "description": "Or `result-...` of a cut result."},
            "part": {"type": "integer", "minimum": 1},
        },
        "run_id",
    )
    text = "Tell how a run goes, or show a part of a cut result."
    return _tool("status", text, takes=takes, reads=True)


def front_instructions(
    session: Session, known: Mapping[str, int] | None = None, *, direct: bool = False
) -> str:
    """Return what a client is told of a front, for its model.

    Args:
        session: What stands behind it.
        known: The number of tools that servers had when they were there last; None: not known.
        direct: Whether tools may be called without a script.
    """
    if session.guide():
        about = _ABOUT.format(direct=_DIRECT if direct else _ALONE)
    else:
        mode = " in mode plan" if session.policy.mode == "plan" else ""
        about = _NO_SCRIPTS.format(mode=mode, direct=_LISTED if direct else _NOTHING)
    counts = session.namespaces()
    problems = {each.name for each in session.providers if each.problem and not counts[each.name]}
    counts = {name: count or (known or {}).get(name, 0) for name, count in counts.items()}
    return f"{about}Namespaces (tools): {_namespaces(counts, problems)}"


def _namespaces(counts: Mapping[str, int], problems: Set[str]) -> str:
    told: list[str] = []
    room = _NAMESPACES
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for name, count in ordered:
        about = "not there now" if name in problems else str(count or "connecting")
        text = f"{name or 'built in'} ({about})"
        room -= len(text) + 2
        if room < 0:
            left = counts.keys() - {name for name, _ in ordered[: len(told)]}
            told.append(f"and {len(left)} more with {sum(counts[n] for n in left)}")
            break
        told.append(text)
    return ", ".join(told) or "none"
