"""From what a server answered to the value that a script gets."""

import base64
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Literal, cast

import mcp_types as types

from lineshaft.errors import ToolError
from lineshaft.mcp._text import clean
from lineshaft.values import SecretFinder, Struct

_LONGEST_ERROR = 4_000
_LONGEST_NAMES = 200
_KEPT_BYTES = 64_000_000
_KEPT_ITEMS = 256
_SORTED = json.JSONEncoder(sort_keys=True)

Kind = Literal["image", "audio", "resource"]

BESIDE = "_content"
"""The member of a value for images and other contents that a server sent beside it."""


class HandleContent(Struct, frozen=True, kw_only=True):
    """The content that a handle in a result stands for."""

    kind: Kind
    mime_type: str
    data: bytes
    uri: str = ""
    """Of a resource: what the server calls it."""


class HandleContents:
    """The contents of handles, as long as there is room; the oldest goes first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, HandleContent] = OrderedDict()
        self._bytes = 0

    def __getitem__(self, handle: str) -> HandleContent:
        return self._kept[handle]

    def keep(self, content: HandleContent) -> str:
        """Return a handle for it."""
        handle = f"{content.kind}-{secrets.token_hex(8)}"
        self._kept[handle] = content
        self._bytes += len(content.data)
        while self._kept and (self._bytes > _KEPT_BYTES or len(self._kept) > _KEPT_ITEMS):
            self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return handle


class ResultShape(Struct, frozen=True, kw_only=True):
    """The shape of a tool's results, as far as its definition gives it."""

    has_schema: bool = False
    wrapped: bool = False
    """Whether the server puts the value into `{"result": value}`."""

    has_room: bool = True
    """Whether its values may have members that the server did not declare."""

    most_bytes: int = 10_000_000


def value_of(
    result: types.CallToolResult,
    shape: ResultShape,
    contents: HandleContents,
    known: SecretFinder,
    log: Callable[[str], None],
) -> object:
    """Return what a call gave.

    Args:
        result: As the server answered.
        shape: What the server said of it before.
        contents: Keeps what a script gets only a handle of.
        known: What is not cut in two where an error says much.
        log: Told of contents that no part of the value can stand for.

    Raises:
        ToolError: The tool failed, or its result is too large, or not what it says it is.
    """
    if result.is_error:
        why = _words(result, known) or "the tool failed and did not say why"
        raise ToolError("E_TOOL_FAILED", why)
    _check_size(result, shape.most_bytes)
    wrapped = shape.wrapped or _marked(result)
    if "structured_content" in result.model_fields_set and (
        result.structured_content is not None or not result.content
    ):
        value = _unwrapped(result.structured_content, wrapped=wrapped)
        beside = _beside(value, result, contents)
        if beside and shape.has_room and isinstance(value, dict):
            return {**cast("dict[str, object]", value), BESIDE: beside}
        if beside:
            log(f"left out beside the value, which has no room for it: {_named(beside)}")
        return value
    if shape.has_schema and (text := _only_text(result)) is not None:
        try:
            return _unwrapped(json.loads(text), wrapped=wrapped)
        except (ValueError, RecursionError):
            return text
    values = [_block(block, contents) for block in result.content]
    if len(values) > 1:
        return values
    return values[0] if values else None


def _beside(value: object, result: types.CallToolResult, contents: HandleContents) -> list[object]:
    """Return what was sent beside a value, where that is more than its text.

    A server repeats structured content as text for clients that do not know it; beside an image,
    a text may say more.
    """
    if all(isinstance(block, types.TextContent) for block in result.content):
        return []
    known = _encodings(value, result)
    return [
        _block(block, contents)
        for block in result.content
        if not (isinstance(block, types.TextContent) and _repeats(block.text, known))
    ]


def _named(blocks: Sequence[object]) -> str:
    kinds = [
        str(cast("Mapping[str, object]", block).get("mime_type"))
        if isinstance(block, Mapping)
        else "text"
        for block in blocks
    ]
    return ", ".join(kinds)[:_LONGEST_NAMES]


def _encodings(value: object, result: types.CallToolResult) -> Set[object]:
    """Return the value, the structured content and each item of a list, to look texts up in.

    It is made once: comparing each text with each item would hold up the event loop for minutes.
    """
    items = cast("list[object]", value) if isinstance(value, list) else []
    whole: list[object] = [value, result.structured_content]
    return {_encoding(each) for each in whole + items}


def _encoding(value: object) -> object:
    """Return what equals itself for equal JSON and has a hash."""
    return (_SORTED.encode(value),) if isinstance(value, dict | list) else value


def _repeats(text: str, known: Set[object]) -> bool:
    """Return whether a text is the structured content once more, or an item of it."""
    if text in known:
        return True
    try:
        return _encoding(json.loads(text)) in known
    except (ValueError, RecursionError):
        return False


def is_wrapping(name: str, schema: Mapping[str, object] | None) -> bool:
    """Return whether an output schema is that of a value put into `{"result": value}`.

    Args:
        name: What the server calls the tool.
        schema: Of its results.
    """
    properties = None if schema is None else schema.get("properties")
    if schema is None or not isinstance(properties, dict):
        return False
    named = cast("dict[str, object]", properties)
    inner = named.get("result")
    if not isinstance(inner, dict):
        return False
    if schema.get("x-fastmcp-wrap-result") is True:
        return True
    titled = cast("dict[str, object]", inner).get("title") == "Result"
    # What `mcp.server.MCPServer` makes of a function that returns no object. The title has the
    # function's name; one that begins with a capital is that of a class, unless the tool has it.
    alone = list(named) == ["result"] and schema.get("required") == ["result"]
    title = str(schema.get("title", "")).removesuffix("Output")
    return (
        titled
        and alone
        and f"{title}Output" == schema.get("title")
        and (title == name or not title[:1].isupper())
    )


def unwrapped_schema(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of the value in `{"result": value}`."""
    properties = cast("Mapping[str, Mapping[str, object]]", schema["properties"])
    inner = {key: value for key, value in properties["result"].items() if key != "title"}
    return inner if "$defs" not in schema else {**inner, "$defs": schema["$defs"]}


def _unwrapped(value: object, *, wrapped: bool) -> object:
    if wrapped and isinstance(value, dict) and list(cast("dict[str, object]", value)) == ["result"]:
        return cast("dict[str, object]", value)["result"]
    return cast("object", value)


def _marked(result: types.CallToolResult) -> bool:
    marks = (result.meta or {}).get("fastmcp")
    return (
        isinstance(marks, Mapping)
        and cast("Mapping[str, object]", marks).get("wrap_result") is True
    )


def _only_text(result: types.CallToolResult) -> str | None:
    only = result.content[0] if len(result.content) == 1 else None
    return only.text if isinstance(only, types.TextContent) else None


def _words(result: types.CallToolResult, known: SecretFinder) -> str:
    shown = (types.TextContent, types.EmbeddedResource)
    texts = [_payload(block) for block in result.content if isinstance(block, shown)]
    text = "\n".join(texts).strip()
    if not text and result.structured_content:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return clean(text, _LONGEST_ERROR, secrets=known).strip()


def _check_size(result: types.CallToolResult, most_bytes: int) -> None:
    """Refuse a result whose value is too large; what a script does not see is not counted."""
    size, blocks = 0, result.content
    if result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
        size = len(text.encode(errors="replace"))
        blocks = [each for each in blocks if not isinstance(each, types.TextContent)]
    size += sum(len(_payload(block).encode(errors="replace")) for block in blocks)
    if size > most_bytes:
        raise too_large(most_bytes)


def too_large(most_bytes: int) -> ToolError:
    """Return the error for a result that is too large to hold."""
    return ToolError(
        "E_TOO_LARGE",
        f"the result is larger than {most_bytes:,} bytes, so it was dropped; the call was made",
        hint="ask the tool for less: a filter, a page, a range",
    )


def _payload(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent(text=text):
            return text
        case types.ImageContent(data=data) | types.AudioContent(data=data):
            return data
        case types.EmbeddedResource(resource=types.BlobResourceContents(blob=blob)):
            return blob
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case _:
            return block.model_dump_json()


def _block(block: types.ContentBlock, contents: HandleContents) -> object:
    match block:
        case types.TextContent(text=text):
            return text
        case types.ImageContent() | types.AudioContent():
            return _handle(block.type, block.mime_type, block.data, contents)
        case types.EmbeddedResource(resource=types.TextResourceContents() as held):
            mime_type = held.mime_type or "text/plain"
            return {"type": "resource", "uri": held.uri, "mime_type": mime_type, "text": held.text}
        case types.EmbeddedResource(resource=types.BlobResourceContents() as held):
            mime_type = held.mime_type or "application/octet-stream"
            return _handle("resource", mime_type, held.blob, contents, uri=held.uri)
        case types.ResourceLink():
            return {"type": "resource_link", **_link(block)}
        case _:
            return block.model_dump(by_alias=True, mode="json", exclude_none=True)


def _link(link: types.ResourceLink) -> dict[str, object]:
    given = {
        "uri": link.uri,
        "name": link.name,
        "description": link.description,
        "mime_type": link.mime_type,
        "bytes": link.size,
    }
    return {key: value for key, value in given.items() if value is not None}


def decoded(data: str) -> bytes:
    """Return the bytes that base64 stands for; it may be in lines, and without its last signs.

    Raises:
        ValueError: It is none.
    """
    text = "".join(data.split())
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _handle(
    kind: Kind, mime_type: str, data: str, contents: HandleContents, *, uri: str = ""
) -> dict[str, object]:
    try:
        raw = decoded(data)
    except ValueError as error:
        raise ToolError("E_TOOL_FAILED", f"it sent an {kind} that is not base64: {error}") from None
    handle = contents.keep(HandleContent(kind=kind, mime_type=mime_type, data=raw, uri=uri))
    made: dict[str, object] = {
        "type": kind,
        "mime_type": mime_type,
        "bytes": len(raw),
        "handle": handle,
    }
    return {**made, "uri": uri} if uri else made
