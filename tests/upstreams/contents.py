"""A server of the official SDK whose tools give every kind of result. To be used in process."""

import base64
import json
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

server = MCPServer("contents", version="2")
DATA = base64.b64encode(b"bytes").decode()


class Point(BaseModel):
    x: int
    y: int


@server.tool()
def a_number() -> int:
    return 7


@server.tool()
def points() -> list[Point]:
    return [Point(x=1, y=2)]


@server.tool()
def a_point() -> Point:
    return Point(x=1, y=2)


@server.tool()
def maybe(given: bool) -> str | None:
    return "yes" if given else None


@server.tool()
def own_result() -> dict[str, int]:
    """Return an object that has just this key."""
    return {"result": 3}


@server.tool()
def nothing() -> CallToolResult:
    return CallToolResult(content=[])


@server.tool()
def many() -> CallToolResult:
    text = TextResourceContents(uri="a://b", text="words")
    blob = BlobResourceContents(uri="a://c", blob=DATA, mime_type="x/y")
    return CallToolResult(
        content=[
            TextContent(type="text", text="one"),
            AudioContent(type="audio", data=DATA, mime_type="audio/wav"),
            EmbeddedResource(type="resource", resource=text),
            EmbeddedResource(type="resource", resource=blob),
            ResourceLink(type="resource_link", uri="a://d", name="d", size=4),
        ]
    )


@server.tool()
def picture(size: int) -> CallToolResult:
    data = base64.b64encode(bytes(size)).decode()
    return CallToolResult(content=[ImageContent(type="image", data=data, mime_type="image/png")])


@server.tool()
def refuse() -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="not today")], is_error=True)


@server.tool()
def twice(characters: int) -> Annotated[CallToolResult, dict[str, Any]]:
    """Return text beside the same as data, as servers of the SDK do."""
    value = {"text": "ж" * characters}
    text = TextContent(text=json.dumps(value, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=value)


@server.tool()
def long(characters: int) -> Annotated[CallToolResult, dict[str, Any]]:
    return CallToolResult(content=[], structured_content={"text": "x" * characters})
