"""The bound of what a read resource or a filled-in prompt brings into a client's context.

A person or a client chooses those, and not a model among a catalogue, so that they have more room
than the result of a tool. What is cut of a text is kept; what is left out is said in its place.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from lineshaft.mcp.client import PROMPT, READ
from lineshaft.mcp.front.blocks import MOST_BYTES, MOST_CONTENTS
from lineshaft.values import beginning

MOST_CHARACTERS = 50_000
"""Characters of all texts of one resource or prompt; what is further on is cut short."""

_SHORT = 500
"""Characters of a text for which there is no room."""

_MOST_PARTS = 100
"""Contents of a resource, or messages of a prompt."""

_ABOUT = 8_000
"""Characters of JSON of what stands beside a text or its bytes."""

_PARTS = {READ: "contents", PROMPT: "messages"}
_PAYLOAD = frozenset({"text", "blob", "data"})

Shorten = Callable[[str, int], str]
"""Returns a text of so many characters at most; the whole is kept."""

Part = Mapping[str, Any]


def bounded(
    method: str, given: Mapping[str, object], value: Mapping[str, Any], *, shorten: Shorten
) -> dict[str, Any]:
    """Return what a call gave, as long as a client may get it.

    Args:
        method: Of the protocol; one that brings nothing for a model changes nothing.
        given: The arguments.
        value: As the protocol has it, without secrets.
        shorten: Cuts a text, and keeps the whole.
    """
    name = _PARTS.get(method)
    if name is None:
        return dict(value)
    room = _Room(shorten)
    parts: list[Part] = value.get(name, [])
    kept = [room.part(part) for part in parts[:_MOST_PARTS]]
    if len(parts) > len(kept):
        kept.append({"text": f"[{len(parts) - len(kept):,} more parts left out]"})
    make = _content(str(given.get("uri", ""))) if method == READ else _message
    about = {key: member for key, member in value.items() if key != name}
    if isinstance(text := about.get("description"), str):
        about["description"] = beginning(text, _SHORT)
    return {**_fitting(about), name: [make(part) for part in kept]}


class _Room:
    """The room that is left for texts and bytes.

    Args:
        shorten: Cuts a text, and keeps the whole.
    """

    def __init__(self, shorten: Shorten) -> None:
        self._shorten = shorten
        self._characters = MOST_CHARACTERS
        self._contents = MOST_CONTENTS

    def part(self, part: Part) -> Part:
        """Return a part, or a text in its place that has no other member: it is said there."""
        inner = next((k for k in ("content", "resource") if isinstance(part.get(k), dict)), None)
        about = {key: each for key, each in part.items() if key != inner and key not in _PAYLOAD}
        size = len(json.dumps(about, ensure_ascii=False, default=str))
        if size > _ABOUT:
            return {"text": f"[left out: what is said about it has {size:,} characters]"}
        if inner is not None:
            held = self.part(part[inner])
            return held if inner == "resource" and _is_note(held) else {**part, inner: held}
        if isinstance(text := part.get("text"), str):
            return {**part, "text": self._text(text)}
        data = part.get("blob", part.get("data"))
        return part if data is None else self._bytes(part, str(data))

    def _text(self, text: str) -> str:
        most = max(self._characters, _SHORT)
        self._characters -= min(len(text), most)
        return text if len(text) <= most else self._shorten(text, most)

    def _bytes(self, part: Part, data: str) -> Part:
        size = len(data) * 3 // 4 - data[-2:].count("=")
        self._contents -= 1
        if size <= MOST_BYTES and self._contents >= 0:
            return part
        why = f"{MOST_CONTENTS} of {MOST_BYTES:,} bytes each are passed on"
        return {"text": f"[{size:,} bytes of {part.get('mimeType', 'data')} left out: {why}]"}


def _is_note(part: Part) -> bool:
    return set(part) == {"text"}


def _content(uri: str) -> Callable[[Part], Part]:
    def made(part: Part) -> Part:
        return {"uri": uri, "mimeType": "text/plain", **part} if _is_note(part) else part

    return made


def _message(part: Part) -> Part:
    if _is_note(part):
        return {"role": "user", "content": {"type": "text", **part}}
    held = cast("Part", part["content"])
    return {**part, "content": {"type": "text", **held}} if _is_note(held) else part


def _fitting(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members for which there is room; the protocol's own are small."""
    found: dict[str, Any] = {}
    room = _ABOUT
    for key, member in members.items():
        room -= len(json.dumps([key, member], ensure_ascii=False, default=str))
        if room >= 0:
            found[key] = member
    return found
