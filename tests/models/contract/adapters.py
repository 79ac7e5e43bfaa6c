"""Each adapter with a provider behind it that says what a test wrote down."""

import base64
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import cast

import anyio
from pydantic_ai import exceptions, messages
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage
from typing_extensions import override

from lineshaft.errors import ModelError, ModelRefused, ModelUnavailable
from lineshaft.models import (
    CallAnswer,
    Model,
    ModelReply,
    StopReason,
    TokenUsage,
    UserMessage,
)
from lineshaft.models.openai import OpenAICompatible
from lineshaft.models.pydantic_ai import PydanticAIModel
from lineshaft.testing import ScriptedModel
from models.wire import Json, answer, completion, requested, serving

Fault = tuple[int, float | None]
"""An HTTP status, and the seconds that the provider asks to wait."""


class Provider(ABC):
    """A model under test, and what its provider was shown."""

    model: Model

    @abstractmethod
    def images(self) -> list[bytes]:
        """Return the images of the last request, in order."""


class OverHttp(Provider):
    """OpenAI's chat completions over HTTP."""

    @asynccontextmanager
    async def serve(self, said: Sequence[ModelReply | Fault]) -> AsyncGenerator[Provider]:
        """Serve replies and faults in order."""
        answers = [
            _completion(each) if isinstance(each, ModelReply) else _fault(*each) for each in said
        ]
        async with serving(answers) as self._wire:
            self.model = OpenAICompatible("tiny", base_url=self._wire.url)
            yield self

    def images(self) -> list[bytes]:
        """As `Provider.images`."""
        parts = [
            part
            for message in self._wire.sent[-1].body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
        ]
        return [
            base64.b64decode(part["image_url"]["url"].partition(",")[2])
            for part in parts
            if part["type"] == "image_url"
        ]


_COUNTED = 100
"""Input tokens of the one reply that tells its usage."""

_NONE = RequestUsage()


class _Uncounted(FunctionModel):
    """Does not estimate usage by itself."""

    @override
    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await super().request(messages, model_settings, model_request_parameters)
        return (
            response if response.usage.input_tokens == _COUNTED else replace(response, usage=_NONE)
        )


class ByPydanticAI(Provider):
    """A function behind the interface of pydantic-ai."""

    _asked: list[messages.ModelMessage]

    @asynccontextmanager
    async def serve(self, said: Sequence[ModelReply | Fault]) -> AsyncGenerator[Provider]:
        """Serve replies and faults in order."""
        rest = list(said)

        async def respond(
            asked: list[messages.ModelMessage], info: AgentInfo
        ) -> messages.ModelResponse:
            await anyio.lowlevel.checkpoint()
            self._asked = asked
            each = rest.pop(0) if len(rest) > 1 else rest[0]
            if isinstance(each, ModelReply):
                return _response(each)
            status, wait = each
            raise exceptions.ModelHTTPError(status, "tiny", None, retry_after=wait)

        self.model = PydanticAIModel(_Uncounted(respond, model_name="tiny"))
        yield self

    def images(self) -> list[bytes]:
        """As `Provider.images`."""
        shown: list[object] = []
        for message in self._asked:
            for part in message.parts:
                if isinstance(part, messages.UserPromptPart | messages.ToolReturnPart):
                    content = cast("object", part.content)
                    shown += cast("list[object]", content) if isinstance(content, list) else ()
        return [each.data for each in shown if isinstance(each, messages.BinaryContent)]


class ByScript(Provider):
    """Replies that are written down."""

    @asynccontextmanager
    async def serve(self, said: Sequence[ModelReply | Fault]) -> AsyncGenerator[Provider]:
        """Serve replies and faults in order."""
        replies = [each if isinstance(each, ModelReply) else _error(*each) for each in said]
        self._scripted = ScriptedModel(replies * 10 if len(replies) == 1 else replies)
        self.model = self._scripted
        yield self

    def images(self) -> list[bytes]:
        """As `Provider.images`."""
        return [
            image.data
            for message in self._scripted.requests[-1].messages
            if isinstance(message, UserMessage | CallAnswer)
            for image in message.images
        ]


_FINISH: dict[StopReason, str] = {
    "calls": "tool_calls",
    "end": "stop",
    "length": "length",
    "filter": "content_filter",
}


def _completion(reply: ModelReply) -> bytes:
    message: Json = {"content": reply.text or None, "finish_reason": _FINISH[reply.stop]}
    if reply.calls:
        message["tool_calls"] = [
            requested(each.name, each.arguments, id=each.id) for each in reply.calls
        ]
    used = reply.usage
    message["usage"] = used != TokenUsage() and {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "prompt_tokens_details": {"cached_tokens": used.cached_tokens},
    }
    return answer(completion(**message))


def _fault(status: int, wait: float | None) -> bytes:
    headers = "" if wait is None else f"retry-after: {wait:g}\r\n"
    return answer({"error": {"message": "no"}}, status=f"{status} No", headers=headers)


def _error(status: int, wait: float | None) -> ModelError:
    if status in (408, 409, 429) or status >= 500:
        return ModelUnavailable(str(status), retry_after=wait)
    return ModelRefused(str(status))


def _response(reply: ModelReply) -> messages.ModelResponse:
    parts: list[messages.ModelResponsePart] = [messages.TextPart(reply.text)] if reply.text else []
    parts += [
        messages.ToolCallPart(each.name, each.arguments, tool_call_id=each.id)
        for each in reply.calls
    ]
    used = reply.usage
    usage = RequestUsage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cached_tokens,
    )
    finish: dict[StopReason, messages.FinishReason] = {
        "calls": "tool_call",
        "end": "stop",
        "length": "length",
        "filter": "content_filter",
    }
    return messages.ModelResponse(parts=parts, usage=usage, finish_reason=finish[reply.stop])
