"""From the value that a tool gave to the content that a client gets."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any, TypeVar, cast

import mcp_types as types
from pydantic import ValidationError

from lineshaft.mcp.client import BESIDE, HandleContent
from lineshaft.mcp.front.client import ToolReply
from lineshaft.session import MODEL_CHARACTERS

Contents = Callable[[str], HandleContent | None]
"""Gives what a handle in a value stands for, as long as it is kept."""

MOST_CONTENTS = 4
"""Images, sounds and binary resources that one result brings."""

MOST_BYTES = 1_000_000
"""Of one of them."""

_TAKES_LITTLE = frozenset({"claude-ai"})
"""Clients, by name, that refuse a result of 1 MB as a whole: Claude Desktop."""

_SMALL = 900_000
"""Characters of base64 that such a client gets, so that there is room for the texts."""

Part = TypeVar("Part", bound=types.ContentBlock | str)

_BLOCK = 20
"""Characters that a block counts at least, however short its text."""


def room_for(client: str) -> float:
    """Return how many characters of base64 one result may bring to a client, all together.

    Args:
        client: The name by which it introduces itself.
    """
    return _SMALL if client in _TAKES_LITTLE else inf


def blocks_of(
    reply: ToolReply, contents: Contents, *, room: float = inf
) -> list[types.ContentBlock]:
    """Return a reply as blocks: what a script showed, and what was an image in a direct call.

    Args:
        reply: Of the call.
        contents: Gives what handles stand for.
        room: Characters of base64 that there is room for.
    """
    if not reply.direct:
        shown = (
            types.ImageContent(
                data=base64.b64encode(image.data).decode(), mime_type=image.mime_type
            )
            for image in reply.images
        )
        return [_text(reply.text), *_bounded(shown, room)]
    parts = list(_bounded(_blocks(_parts(reply), contents), room))
    if reply.structured is not None:
        return [_text(reply.text), *(part for part in parts if not isinstance(part, str))]
    if all(isinstance(part, str) for part in parts):
        return [_text(reply.text)]
    if sum(map(_characters, parts)) > MODEL_CHARACTERS:  # the short form names the whole
        brought = [part for part in parts if not isinstance(part, str) and _data(part)]
        return [_text(reply.text), *brought]
    return [_text(part) if isinstance(part, str) else part for part in parts]


def _parts(reply: ToolReply) -> Sequence[object]:
    """Return the parts of a value, each of which may stand for a block."""
    value = cast("object", reply.value)
    if isinstance(value, list):
        return cast("list[object]", value)
    if not isinstance(value, Mapping) or BESIDE not in value:
        return [cast("object", value)]
    members = cast("Mapping[str, object]", value)
    rest = {name: member for name, member in members.items() if name != BESIDE}
    beside = members[BESIDE]
    return [rest, *(cast("list[object]", beside) if isinstance(beside, list) else [beside])]


def _blocks(parts: Sequence[object], contents: Contents) -> Iterator[types.ContentBlock | str]:
    for part in parts:
        yield _block(part, contents)


def _bounded(parts: Iterator[Part], room: float) -> Iterator[Part | types.TextContent]:
    """Yield blocks; a text stands for what is too large, or one too many."""
    count = 0
    for part in parts:
        data = _data(part)
        if not data:
            yield part
            continue
        count += 1
        size = len(data) * 3 // 4 - data[-2:].count("=")
        fits = size <= MOST_BYTES and count <= MOST_CONTENTS
        if fits and len(data) <= room:
            room -= len(data)
            yield part
        else:
            why = f"{MOST_CONTENTS} of {MOST_BYTES:,} bytes each are passed on"
            if fits:
                why = "this client refuses results of 1 MB or more as a whole"
            told = f"{size:,} bytes of {_kind(part)} left out: {why}; a script has all of it"
            yield types.TextContent(text=f"[{told}]")


def _characters(part: types.ContentBlock | str) -> int:
    """Return how many characters a model reads of a part; those of bytes do not count."""
    whole = part if isinstance(part, str) else part.model_dump_json()
    return _BLOCK + len(whole) - len(_data(part))


def _data(part: types.ContentBlock | str) -> str:
    match part:
        case types.ImageContent(data=data) | types.AudioContent(data=data):
            return data
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=blob)):
            return blob
        case _:
            return ""


def _kind(part: types.ContentBlock | str) -> str:
    if isinstance(part, types.ImageContent | types.AudioContent):
        return part.mime_type
    return "a resource"


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _block(value: object, contents: Contents) -> types.ContentBlock | str:
    """Return a block for what stands for one, and text for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        # What only looks like a block is a value like others.
        with suppress(ValidationError):
            made = _of_handle(cast("Mapping[str, Any]", value), contents)
            if made is not None:
                return made
    return json.dumps(value, ensure_ascii=False, default=str)


def _of_handle(value: Mapping[str, Any], contents: Contents) -> types.ContentBlock | None:
    kind, handle = value.get("type"), value.get("handle")
    if kind == "resource" and isinstance(value.get("text"), str):
        held = types.TextResourceContents(
            uri=str(value.get("uri", "")), mime_type=value.get("mime_type"), text=value["text"]
        )
        return types.EmbeddedResource(resource=held)
    if kind == "resource_link" and isinstance(value.get("uri"), str):
        return types.ResourceLink(
            uri=value["uri"],
            name=str(value.get("name", "")),
            description=value.get("description"),
            mime_type=value.get("mime_type"),
            size=value.get("bytes"),
        )
    if not isinstance(handle, str):
        return None
    content = contents(handle)
    if content is None:
        if kind in ("image", "audio", "resource") and isinstance(value.get("bytes"), int):
            about = f"{kind} of {value['bytes']:,} bytes ({value.get('mime_type')})"
            return _text(f"[{about} is not kept any longer; call the tool again]")
        return None
    data = base64.b64encode(content.data).decode()
    match content.kind:
        case "image":
            return types.ImageContent(data=data, mime_type=content.mime_type)
        case "audio":
            return types.AudioContent(data=data, mime_type=content.mime_type)
        case _:
            blob = types.BlobResourceContents(
                uri=content.uri, mime_type=content.mime_type, blob=data
            )
            return types.EmbeddedResource(resource=blob)
