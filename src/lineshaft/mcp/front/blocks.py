"""From the value that a tool gave to the content that a client gets."""

import base64
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

import mcp_types as types
from pydantic import ValidationError

from lineshaft.mcp.client import HandleContent
from lineshaft.mcp.front.client import ToolReply

Contents = Callable[[str], HandleContent | None]
"""Gives what a handle in a value stands for, as long as it is kept."""


def blocks_of(reply: ToolReply, contents: Contents) -> list[types.ContentBlock]:
    """Return a reply as blocks; what was an image in a direct call's value is one again.

    Args:
        reply: Of the call.
        contents: Gives what handles stand for.
    """
    if not reply.direct or reply.structured is not None:
        return [_text(reply.text)]
    value = cast("object", reply.value)
    held = cast("list[object]", value) if isinstance(value, list) else [value]
    parts = [_block(part, contents) for part in held]
    if all(isinstance(part, str) for part in parts):
        return [_text(reply.text)]
    return [_text(part) if isinstance(part, str) else part for part in parts]


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
    content = contents(handle) if isinstance(handle, str) else None
    if content is None:
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
