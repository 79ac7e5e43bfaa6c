"""What a client of a front is told before it calls anything. Imports nothing of the MCP SDK.

All of it has a fixed budget, however many tools there are behind the front: what is told of them is
how many each namespace has, as far as there is room.
"""

from collections.abc import Mapping
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

_RUN = """\
Run one Python script over the tools; only what it prints and returns comes back. Look up \
signatures with `describe` first.
"""

_RESUME = "Let a paused run go on, or get the end of one that a person has answered elsewhere."
_ANSWERS = """ With `approve` and `deny` (ids of waiting calls, or "all") the calls are answered."""


def _texts(text: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": text}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    made = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


def _result(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


_TEXT: dict[str, Any] = {"type": "string"}
_LIST: dict[str, Any] = {"type": "array", "items": {}}
_OBJECTS: dict[str, Any] = {"type": "array", "items": {"type": "object"}}
_RUN_ID = {"type": "string", "description": "From the result of `run`."}

_OF_RUN = _result(
    {
        "run_id": _TEXT,
        "status": {
            "type": "string",
            "description": "success, paused, running, or why it failed.",
        },
        "value": {"description": "What the script returned."},
        "stdout": _TEXT,
        "error": {"type": ["object", "null"]},
        "pending": {**_OBJECTS, "description": "Calls that wait for a person."},
        "calls": {"type": "integer"},
        "next": _TEXT,
    },
    "run_id",
    "status",
)


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


def _tool(name: str, text: str, *, takes: object, gives: object, reads: bool) -> dict[str, Any]:
    hints: dict[str, Any] = {"readOnlyHint": reads}
    if not reads:
        hints |= {"destructiveHint": True, "openWorldHint": True}
    return {
        "name": name,
        "description": text,
        "inputSchema": takes,
        "outputSchema": gives,
        "annotations": hints,
    }


def _search() -> dict[str, Any]:
    takes = _object(
        {
            "words": {"type": "string", "description": "What the tool should do."},
            "namespace": {"type": ["string", "null"], "description": "Only tools of this one."},
            "detail": {"type": "string", "enum": ["brief", "full"], "default": "brief"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        },
        "words",
    )
    gives = _result({"tools": _OBJECTS, "problems": _LIST}, "tools")
    text = "Find tools by words: names and signatures."
    return _tool("search", text, takes=takes, gives=gives, reads=True)


def _describe() -> dict[str, Any]:
    names = {**_texts("Tools, such as github.list_issues."), "minItems": 1, "maxItems": 30}
    gives = _result({"text": _TEXT, "unknown": _LIST}, "text")
    text = "Get signatures, types and descriptions of tools, to write a script."
    return _tool(
        "describe", text, takes=_object({"names": names}, "names"), gives=gives, reads=True
    )


def _run(guide: str, most: float) -> dict[str, Any]:
    takes = _object(
        {
            "code": {"type": "string", "description": "The script."},
            "args": {
                "type": "array",
                "items": {},
                "description": "Values that it finds in `args`.",
            },
            "timeout_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": most},
            "background": {
                "type": "boolean",
                "default": False,
                "description": "Return at once; `status` tells how it goes, also after a "
                "disconnect.",
            },
        },
        "code",
    )
    return _tool("run", f"{_RUN}{guide}".rstrip(), takes=takes, gives=_OF_RUN, reads=False)


def _resume(*, answers: bool) -> dict[str, Any]:
    properties: dict[str, Any] = {"run_id": _RUN_ID}
    if answers:
        properties |= {
            "approve": _texts("Ids."),
            "deny": _texts("Ids."),
            "reason": {"type": "string", "description": "Why denied."},
        }
    text = _RESUME + _ANSWERS if answers else _RESUME
    gives = _OF_RUN
    return _tool("resume", text, takes=_object(properties, "run_id"), gives=gives, reads=False)


def _status() -> dict[str, Any]:
    takes = _object({"run_id": _RUN_ID}, "run_id")
    text = "Tell how a run goes or ended, without changing it."
    return _tool("status", text, takes=takes, gives=_OF_RUN, reads=True)


def front_instructions(session: Session, *, direct: bool = False) -> str:
    """Return what a client is told of a front, for its model.

    Args:
        session: What stands behind it.
        direct: Whether tools may be called without a script.
    """
    about = _ABOUT.format(direct=_DIRECT if direct else _ALONE)
    return f"{about}Namespaces (tools): {_namespaces(session.namespaces())}"


def _namespaces(counts: Mapping[str, int]) -> str:
    told: list[str] = []
    room = _NAMESPACES
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for name, count in ordered:
        text = f"{name or 'built in'} ({count or 'connecting'})"
        room -= len(text) + 2
        if room < 0:
            left = counts.keys() - {name for name, _ in ordered[: len(told)]}
            told.append(f"and {len(left)} more with {sum(counts[n] for n in left)}")
            break
        told.append(text)
    return ", ".join(told) or "none"
