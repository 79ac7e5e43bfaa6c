"""Requests to a model, its answers, and roots: bounded, and fit to be passed on.

Both ways in and out use it: neither a server, nor a tool, nor a client passes on more than this.
Sampling with tools is not offered: the tools would be called past the door.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import mcp_types as types
from pydantic import BaseModel, ValidationError

from lineshaft.errors import ToolError
from lineshaft.mcp._text import clean

MOST_BYTES = 4_000_000
"""Of a request to a model, or its answer, as JSON: images and sounds included."""

_MOST_ROOTS = 100
_LONGEST_NAME = 200
_LONGEST_URI = 2_000

SampledContent = types.TextContent | types.ImageContent | types.AudioContent
SamplingAnswer = types.CreateMessageResult | types.CreateMessageResultWithTools
T = TypeVar("T", bound=BaseModel)


def sampling_request(given: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters of `sampling/createMessage` with nothing in them but what is offered.

    Raises:
        ToolError: They are none, too large, or ask for what is not offered.
    """
    _check_size(given, "what a model is asked")
    asked = _parsed(types.CreateMessageRequestParams, given, "E_INVALID_ARGS")
    if asked.tools is not None or asked.tool_choice is not None:
        raise ToolError("E_DENIED", "no model is offered that calls tools")
    messages = [  # each with one thing in it: older clients know no others
        types.SamplingMessage(role=message.role, content=_content(block))
        for message in asked.messages
        for block in message.content_as_list
    ]
    made = types.CreateMessageRequestParams(
        messages=messages,
        model_preferences=asked.model_preferences,
        system_prompt=None if asked.system_prompt is None else _text(asked.system_prompt),
        temperature=asked.temperature,
        max_tokens=asked.max_tokens,
        stop_sequences=asked.stop_sequences,
        metadata=asked.metadata,
    )
    return as_json(made)


def sampling_answer(said: object) -> SamplingAnswer:
    """Return what a model answered.

    It may come as a list, which few know who ask: one of a single content, or of texts alone, is
    passed on as one content.

    Raises:
        ToolError: `E_DENIED`: it is no answer, or too large.
    """
    _check_size(said, "what the model answered")
    found = _parsed(types.CreateMessageResultWithTools, said, "E_DENIED")
    contents = [_content(block, cleaned=False) for block in found.content_as_list]
    texts = [block.text for block in contents if isinstance(block, types.TextContent)]
    model = clean(found.model, _LONGEST_NAME)
    if len(texts) == len(contents) != 1:
        contents = [types.TextContent(text="\n".join(texts))]
    if len(contents) == 1:
        return types.CreateMessageResult(
            role=found.role, content=contents[0], model=model, stop_reason=found.stop_reason
        )
    return types.CreateMessageResultWithTools(
        role=found.role, content=[*contents], model=model, stop_reason=found.stop_reason
    )


def listed_roots(said: object) -> types.ListRootsResult:
    """Return the roots that were told.

    Raises:
        ToolError: `E_DENIED`: they are none, or too many.
    """
    listed = cast("Sequence[object]", said) if isinstance(said, list | tuple) else ()
    if len(listed) > _MOST_ROOTS:
        raise ToolError("E_DENIED", f"{len(listed)} roots were told: {_MOST_ROOTS} are passed on")
    found = _parsed(types.ListRootsResult, {"roots": list(listed)}, "E_DENIED")
    if any(len(str(root.uri)) > _LONGEST_URI for root in found.roots):
        raise ToolError("E_DENIED", f"a root of more than {_LONGEST_URI:,} characters was told")
    named = [
        types.Root(uri=root.uri, name=root.name and clean(root.name, _LONGEST_NAME))
        for root in found.roots
    ]
    return types.ListRootsResult(roots=named)


def as_json(model: BaseModel) -> dict[str, Any]:
    """Return a model as it stands on the wire."""
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


def _content(block: types.SamplingMessageContentBlock, *, cleaned: bool = True) -> SampledContent:
    match block:
        case types.TextContent(text=text):
            return types.TextContent(text=_text(text) if cleaned else text)
        case types.ImageContent(data=data, mime_type=kind):
            return types.ImageContent(data=data, mime_type=clean(kind, _LONGEST_NAME))
        case types.AudioContent(data=data, mime_type=kind):
            return types.AudioContent(data=data, mime_type=clean(kind, _LONGEST_NAME))
        case _:
            raise ToolError("E_DENIED", "no model is offered that calls tools")


def _text(text: str) -> str:
    """Return text with all that can be seen of it."""
    return clean(text, MOST_BYTES)


def _parsed(kind: type[T], given: object, code: str) -> T:
    try:
        return kind.model_validate(given, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ToolError(code, clean(f"{where}: {first['msg']}", 500)) from None


def _check_size(given: object, what: str) -> None:
    try:
        size = len(json.dumps(given))
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError("E_INVALID_ARGS", f"{what} is not JSON: {error}") from None
    if size > MOST_BYTES:
        raise ToolError("E_TOO_LARGE", f"{what} has more than {MOST_BYTES:,} bytes")
