"""A request as JSON of OpenAI's chat completions."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lineshaft.models._messages import CallAnswer, ImagePart, Message, ModelReply, UserMessage
from lineshaft.models._model import ModelRequest, OfferedTool

Json = dict[str, Any]


def order_of(request: ModelRequest, *, model: str, stream: bool) -> Json:
    """Return the body of a request.

    Args:
        request: The request.
        model: The model's name at the provider.
        stream: Whether the reply comes in pieces.
    """
    body: Json = {"model": model}
    if request.as_schema and request.tools:
        body["messages"] = list(_in_words(request.messages, request.tools))
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "call", "schema": call_schema(request.tools)},
        }
    else:
        body["messages"] = list(_messages(request.messages))
    if request.tools and not request.as_schema:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in request.tools
        ]
        body["tool_choice"] = "required" if request.must_call else "auto"
        body["parallel_tool_calls"] = False
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def call_schema(tools: Sequence[OfferedTool]) -> Json:
    """Return the JSON Schema of a call of one of some tools: `tool` and `arguments`."""
    found: list[Json] = []
    definitions: Json = {}
    for tool in tools:
        prefix = f"{tool.name}-"
        schema = cast("Json", _with_references(tool.input_schema, prefix))
        for name, definition in schema.pop("$defs", {}).items():
            definitions[prefix + name] = definition
        found.append(
            {
                "type": "object",
                "properties": {"tool": {"const": tool.name}, "arguments": schema},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            }
        )
    schema = found[0] if len(found) == 1 else {"anyOf": found}
    return {**schema, "$defs": definitions} if definitions else schema


def _with_references(value: object, prefix: str) -> object:
    """Return a schema whose definitions have other names, since they go elsewhere."""
    if isinstance(value, Mapping):
        return {
            key: f"#/$defs/{prefix}{part.removeprefix('#/$defs/')}"
            if key == "$ref" and isinstance(part, str) and part.startswith("#/$defs/")
            else _with_references(part, prefix)
            for key, part in cast("Mapping[str, object]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_with_references(part, prefix) for part in cast("Sequence[object]", value)]
    return value


def _messages(conversation: Sequence[Message]) -> Iterator[Json]:
    images: list[ImagePart] = []
    for message in conversation:
        if not isinstance(message, CallAnswer) and images:
            yield _by_user("Images of the answers above:", images)
            images = []
        match message:
            case UserMessage():
                yield _by_user(message.text, message.images)
            case ModelReply():
                yield _by_model(message)
            case CallAnswer():
                yield {"role": "tool", "tool_call_id": message.id, "content": message.text}
                images += message.images  # an answer of a tool takes none
    if images:
        yield _by_user("Images of the answers above:", images)


def _by_user(text: str, images: Sequence[ImagePart]) -> Json:
    if not images:
        return {"role": "user", "content": text}
    parts: list[Json] = [{"type": "text", "text": text}]
    for image in images:
        data = base64.b64encode(image.data).decode("ascii")
        url = f"data:{image.media_type};base64,{data}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": "user", "content": parts}


def _by_model(reply: ModelReply) -> Json:
    said: Json = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _object(call.arguments)},
            }
            for call in reply.calls
        ]
    elif not reply.text:
        said["content"] = ""
    return said


def _object(arguments: str) -> str:
    """Return arguments as the text of an object: servers refuse a conversation with other text."""
    try:
        plain = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        plain = False
    return arguments if plain else json.dumps({"malformed": arguments})


def _in_words(conversation: Sequence[Message], tools: Sequence[OfferedTool]) -> Iterator[Json]:
    """Yield a conversation in which tools, calls and answers are text."""
    yield {"role": "system", "content": _told(tools)}
    for message in conversation:
        match message:
            case UserMessage():
                yield _by_user(message.text, message.images)
            case ModelReply():
                calls = [
                    json.dumps(
                        {"tool": call.name, "arguments": json.loads(_object(call.arguments))}
                    )
                    for call in message.calls
                ]
                yield {"role": "assistant", "content": "\n".join(calls) or message.text}
            case CallAnswer():
                yield _by_user(f"Answer of {message.name}:\n{message.text}", message.images)


def _told(tools: Sequence[OfferedTool]) -> str:
    lines = ["Answer with one call of a tool, as JSON with `tool` and `arguments`. The tools:"]
    for tool in tools:
        lines.append(f"- {tool.name}: {tool.description}")
        lines.append(f"  arguments: {json.dumps(tool.input_schema, ensure_ascii=False)}")
    return "\n".join(lines)
