"""A server of the official SDK whose tools give every kind of result. To be used in process."""

import base64
import json
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

server = MCPServer("contents", version="2")
DATA = base64.b64encode(b"bytes").decode()
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


class Point(BaseModel):
    x: int
    y: int


@server.tool()
def a_number() -> int:
    return 7


@server.tool(name="a-name")
def of_another_name() -> str:
    return "x"


class AnOutput(BaseModel):
    result: str


@server.tool()
def a_model() -> AnOutput:
    return AnOutput(result="x")


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
def refuse_with_picture(images: int = 1) -> CallToolResult:
    """Fail, with images and data of it."""
    content: list[ContentBlock] = [TextContent(text="not today"), *[_image(PNG)] * images]
    data = {"code": 7, "key": "hush-hush"}
    return CallToolResult(content=content, structured_content=data, is_error=True)


@server.tool()
def twice(characters: int) -> Annotated[CallToolResult, dict[str, Any]]:
    """Return text beside the same as data, as servers of the SDK do."""
    value = {"text": "ж" * characters}
    text = TextContent(text=json.dumps(value, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=value)


@server.tool()
def long(characters: int) -> Annotated[CallToolResult, dict[str, Any]]:
    return CallToolResult(content=[], structured_content={"text": "x" * characters})


@server.tool()
def chart(size: int = 0) -> Annotated[CallToolResult, Point]:
    """Return data, its text, another text and an image of it."""
    value = {"x": 1, "y": 2}
    content: list[ContentBlock] = [
        TextContent(text=json.dumps(value)),
        TextContent(text="it rises"),
        ImageContent(data=base64.b64encode(PNG + bytes(size)).decode(), mime_type="image/png"),
    ]
    return CallToolResult(content=content, structured_content=value)


@server.tool()
def chart_of_many() -> Annotated[CallToolResult, list[Point]]:
    """Return a list as data, each item's text, and an image."""
    items = [{"x": 1, "y": 2}, {"x": 3, "y": 4}]
    content: list[ContentBlock] = [TextContent(text=json.dumps(each)) for each in items]
    content.append(_image(PNG))
    return CallToolResult(content=content, structured_content={"result": items})


@server.tool()
def album(count: int, size: int = 0) -> CallToolResult:
    """Return so many images."""
    return CallToolResult(content=[_image(PNG + bytes(size)) for _ in range(count)])


@server.tool()
def report(characters: int) -> CallToolResult:
    """Return a text of so many characters and an image."""
    return CallToolResult(content=[TextContent(text="x" * characters), _image(PNG)])


def _image(data: bytes) -> ImageContent:
    return ImageContent(data=base64.b64encode(data).decode(), mime_type="image/png")
