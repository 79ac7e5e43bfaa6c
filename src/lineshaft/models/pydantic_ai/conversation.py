"""A conversation as pydantic-ai has it, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic_ai import messages

from lineshaft.models._messages import CallAnswer, ImagePart, Message, ModelReply, UserMessage
from lineshaft.models._model import ModelRequest
from lineshaft.models._schema import in_words, told_of

_OWN = "pydantic_ai"
"""Key of a reply's part: the response as pydantic-ai had it."""


def conversation_of(request: ModelRequest) -> Iterator[messages.ModelMessage]:
    """Yield the messages of a request; what is asked between two replies is one."""
    told: Sequence[Message] = request.messages
    asked: list[messages.ModelRequestPart] = []
    if request.as_schema and request.tools:
        told = tuple(in_words(told))
        asked.append(messages.SystemPromptPart(content=told_of(request.tools)))
    names = {call.id for each in told if isinstance(each, ModelReply) for call in each.calls}
    for message in told:
        match message:
            case UserMessage():
                asked.append(messages.UserPromptPart(content=_shown(message.text, message.images)))
            case CallAnswer() if message.id in names:
                asked.append(
                    messages.ToolReturnPart(
                        tool_name=message.name,
                        content=_shown(message.text, message.images),
                        tool_call_id=message.id,
                        outcome="failed" if message.failed else "success",
                    )
                )
            case CallAnswer():  # of a call that is no longer there
                text = f"Answer of {message.name}:\n{message.text}"
                asked.append(messages.UserPromptPart(content=_shown(text, message.images)))
            case ModelReply():
                if asked:
                    yield messages.ModelRequest(parts=asked)
                    asked = []
                yield _said(message)
    if asked:
        yield messages.ModelRequest(parts=asked)


def _shown(text: str, images: Sequence[ImagePart]) -> str | list[messages.UserContent]:
    if not images:
        return text
    shown = [messages.BinaryContent(each.data, media_type=each.media_type) for each in images]
    return [text, *shown]


def _said(reply: ModelReply) -> messages.ModelResponse:
    for part in reply.parts:
        if _OWN in part:
            try:
                [own] = messages.ModelMessagesTypeAdapter.validate_python([part[_OWN]])
            except ValueError:  # of another version
                continue
            if isinstance(own, messages.ModelResponse):
                return own
    parts: list[messages.ModelResponsePart] = []
    if reply.text or not reply.calls:
        parts.append(messages.TextPart(content=reply.text))
    parts += [
        messages.ToolCallPart(
            tool_name=call.name, args=call.arguments or None, tool_call_id=call.id
        )
        for call in reply.calls
    ]
    return messages.ModelResponse(parts=parts)


def own_parts(response: messages.ModelResponse) -> tuple[Mapping[str, object], ...]:
    """Return the response itself where it has more than text and calls: signed reasoning."""
    for part in response.parts:
        plain = isinstance(part, messages.TextPart | messages.ToolCallPart)
        if not plain or part.id or part.provider_details:
            [own] = messages.ModelMessagesTypeAdapter.dump_python([response], mode="json")
            return ({_OWN: own},)
    return ()


def text_of(call: messages.ToolCallPart) -> str:
    """Return the arguments of a call as text."""
    return call.args if isinstance(call.args, str) else json.dumps(call.args) if call.args else ""
