"""Calls of a record as short lines, for those who show a run; an agent's own in other words.

An agent makes calls for itself: requests to its model, its commit.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, cast

from lineshaft.values import ASK_MODEL, COMMIT, counted, first_few, one_line

_OWN = {
    ASK_MODEL: {"agent", "turn", "model", "new", "as_schema", "conversation"},
    COMMIT: {"conversation"},
}
"""The arguments of these calls: of no other is anything left out."""

_NAMED = 3
"""Files that a line names."""


class ShownCall(Protocol):
    """A call as a display or a record knows it."""

    @property
    def id(self) -> str: ...
    @property
    def tool(self) -> str: ...
    @property
    def arguments(self) -> Mapping[str, object]: ...
    @property
    def parent(self) -> str | None: ...
    @property
    def status(self) -> str: ...
    @property
    def staged_after(self) -> int | None: ...


def readable_line(
    call: ShownCall, among: Iterable[ShownCall], *, tokens: int | None = None, width: int = 160
) -> str:
    """Return a call on one safe line; of an agent's own calls what a person wants to know.

    Args:
        call: The call.
        among: The calls of the run, or those that are remembered: a commit names their files.
        tokens: What the call, a request to a model, has used; None: not known.
        width: The most characters.
    """
    if _is_own(call.tool, call.arguments, ASK_MODEL):
        parts = [_request(call.arguments)]
        parts += [f"{tokens:,} tokens"] if tokens is not None else []
        return one_line(" · ".join(parts), width)
    if _is_own(call.tool, call.arguments, COMMIT):
        files = _files_before(call, among)
        return one_line(f"{COMMIT} {first_few(files, _NAMED)}", width)
    return call_line(call.tool, call.arguments, width)


def argument_texts(tool: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments of a call as a person is asked about them.

    Args:
        tool: Its name.
        arguments: As the record has them.
    """
    if not _is_own(tool, arguments, ASK_MODEL) or not isinstance(arguments["new"], list):
        return arguments
    told = {name: arguments[name] for name in ("agent", "turn", "model")}
    new = cast("Sequence[object]", arguments["new"])
    return {**told, "sends": "\n".join(_message(each) for each in new)}


def _is_own(tool: str, arguments: Mapping[str, object], name: str) -> bool:
    """Return whether a call is one of an agent's own: another tool may have taken the name."""
    return tool == name and set(arguments) == _OWN[name]


def _request(arguments: Mapping[str, object]) -> str:
    agent, turn = arguments.get("agent"), arguments.get("turn")
    whose = f" agents.{agent}" if agent else ""
    which = f" turn {turn}" if turn else ""
    return f"{ASK_MODEL}{whose}{which} · {arguments['model']}"


def _message(message: object) -> str:
    """Return one message of a request: who says it, and what."""
    if not isinstance(message, Mapping):
        return brief(message)
    told = cast("Mapping[str, object]", message)
    text = told.get("text")
    who = " ".join(str(told[key]) for key in ("role", "name") if told.get(key))
    calls = told.get("calls")
    count = len(cast("list[object]", calls)) if isinstance(calls, list) else 0
    said = text if isinstance(text, str) else brief(text)
    return f"{who}: {said}" + (f" ({counted(count, 'call')})" if count else "")


def _files_before(commit: ShownCall, among: Iterable[ShownCall]) -> list[str]:
    """Return the paths that the calls beside a commit, and those under them, have staged."""
    inside = {commit.parent}
    found: dict[str, None] = {}
    for call in among:  # in their order: a call comes after the one that made it
        if call.id == commit.id:
            break
        if call.parent not in inside or call.parent is None:
            continue
        inside.add(call.id)
        if call.staged_after is None or call.status != "done":
            continue
        for name in ("path", "target"):
            if isinstance(path := call.arguments.get(name), str):
                found[path] = None
    return list(found)


def call_line(tool: str, arguments: Mapping[str, object], width: int = 160) -> str:
    """Return a call on one safe line: `read_file path="notes.txt"`."""
    words = [f"{name}={brief(value)}" for name, value in arguments.items()]
    return one_line(" ".join([tool, *words]), width)


def brief(value: object) -> str:
    """Return a value as JSON on one line; of a content that was left out, its size."""
    if isinstance(value, dict):
        left_out = cast("dict[str, object]", value)
        count = left_out.get("bytes")
        if set(left_out) in ({"bytes"}, {"bytes", "sha256"}) and isinstance(count, int):
            return f"<{size(count)}>"
    return json.dumps(value, ensure_ascii=False, default=str)


def size(count: int) -> str:
    """Return an amount of bytes: `512 B`, `1.5 kB`, `5.2 MB`."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
