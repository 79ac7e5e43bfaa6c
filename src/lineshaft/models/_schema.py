"""Calls as JSON text of a schema, for models that do not call tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lineshaft.models._messages import CallAnswer, Message, ModelReply, RequestedCall, UserMessage
from lineshaft.models._model import OfferedTool

Json = dict[str, Any]


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


def told_of(tools: Sequence[OfferedTool]) -> str:
    """Return what a model is told of the tools, in words."""
    lines = ["Answer with one call of a tool, as JSON with `tool` and `arguments`. The tools:"]
    for tool in tools:
        lines.append(f"- {tool.name}: {tool.description}")
        lines.append(f"  arguments: {json.dumps(tool.input_schema, ensure_ascii=False)}")
    return "\n".join(lines)


def in_words(conversation: Sequence[Message]) -> Iterator[UserMessage | ModelReply]:
    """Yield a conversation in which calls and answers are text."""
    for message in conversation:
        match message:
            case UserMessage():
                yield message
            case ModelReply():
                calls = [
                    json.dumps(
                        {"tool": call.name, "arguments": json.loads(object_text(call.arguments))}
                    )
                    for call in message.calls
                ]
                yield ModelReply(text="\n".join(calls) or message.text)
            case CallAnswer():
                text = f"Answer of {message.name}:\n{message.text}"
                yield UserMessage(text=text, images=message.images)


def call_in(text: str) -> RequestedCall | None:
    """Return the call that a text is, or None."""
    try:
        told = json.loads(_unfenced(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, Mapping):
        return None
    call = cast("Mapping[str, object]", told)
    name, arguments = call.get("tool"), call.get("arguments")
    if not isinstance(name, str):
        return None
    return RequestedCall(id="call_0", name=name, arguments=json.dumps(arguments))


def object_text(arguments: str) -> str:
    """Return arguments as the text of an object: servers refuse a conversation with other text."""
    try:
        plain = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        plain = False
    return arguments if plain else json.dumps({"malformed": arguments})


def _unfenced(text: str) -> str:
    """Return a text without the fence that models like to put around JSON."""
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```")):
        return text
    return text.partition("\n")[2].removesuffix("```")
