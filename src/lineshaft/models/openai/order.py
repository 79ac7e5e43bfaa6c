"""A request as JSON of OpenAI's chat completions."""

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from lineshaft.models._messages import CallAnswer, ImagePart, Message, ModelReply, UserMessage
from lineshaft.models._model import ModelRequest
from lineshaft.models._schema import call_schema, in_words, object_text, told_of

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
        system = {"role": "system", "content": told_of(request.tools)}
        body["messages"] = [system, *_messages(tuple(in_words(request.messages)))]
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
                "function": {"name": call.name, "arguments": object_text(call.arguments)},
            }
            for call in reply.calls
        ]
    elif not reply.text:
        said["content"] = ""
    return said
