"""A model of pydantic-ai as one of ours."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import anyio
from pydantic_ai import exceptions, messages
from pydantic_ai import models as providers
from pydantic_ai.direct import model_request
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from lineshaft.errors import ConfigError, ModelError, ModelRefused, ModelUnavailable
from lineshaft.models._messages import ModelReply, RequestedCall, StopReason, TokenUsage
from lineshaft.models._model import ModelRequest, OnText
from lineshaft.models._price import ModelPrice
from lineshaft.models._schema import call_in, call_schema
from lineshaft.models._server_errors import AGAIN, LONGEST_WAIT, MOST_SAID, words_of
from lineshaft.models._slots import RequestSlots
from lineshaft.models.pydantic_ai.conversation import conversation_of, own_parts, text_of

_STOPS: Mapping[str | None, StopReason] = {
    "tool_call": "calls",
    "length": "length",
    "content_filter": "filter",
}
_REFUSED = (
    exceptions.ModelRequestRejectedError,
    exceptions.ModelQuotaExceededError,
    exceptions.ContentFilterError,
    exceptions.UserError,
)
_LETTERS = 4


class PydanticAIModel:
    """A model of pydantic-ai, asked once for each request: its client's own retries are turned off.

    It reaches its provider as its client does: by the proxies of the environment.

    Args:
        model: The model: an instance, or its name there (`anthropic:NAME`).
        price: What a million tokens cost; None: as pydantic-ai's table of prices has it.
        concurrency: Requests at a time; others wait, which is not part of their seconds.
        name: As `Model.name`.
        secrets: Texts, keys above all, that no error may tell.

    Raises:
        ConfigError: There is no such model, its key or its package is missing, or its client's
            retries cannot be turned off.
    """

    def __init__(
        self,
        model: providers.Model[Any] | str,
        *,
        price: ModelPrice | None = None,
        concurrency: int = 8,
        name: str = "",
        secrets: Sequence[str] = (),
    ) -> None:
        self._slots = RequestSlots(concurrency)
        self._model = model if isinstance(model, providers.Model) else _found(model)
        self._name = name or f"{self._model.system}:{self._model.model_name}"
        self._secrets = tuple(secrets)
        self._price = price
        ignored = self._model.unsupported_settings
        if "max_retries" in ignored:
            raise ConfigError(
                f"the client of {self._name} tries again by itself, which no budget would see",
                hint="name the provider's address that speaks OpenAI's chat completions: URL#NAME",
            )
        self._settings = ModelSettings(max_retries=0)
        if "parallel_tool_calls" not in ignored:
            self._settings["parallel_tool_calls"] = False
        self._priced = price is not None or _cost(self._example()) is not None

    @property
    def name(self) -> str:
        """As `Model.name`."""
        return self._name

    @property
    def priced(self) -> bool:
        """As `Model.priced`."""
        return self._priced

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """As `Model.complete`."""
        async with self._slots.one():
            try:
                with anyio.fail_after(request.seconds):
                    response = await model_request(
                        self._model,
                        list(conversation_of(request)),
                        model_settings=self._settings_for(request),
                        model_request_parameters=_parameters(request),
                    )
            except TimeoutError:
                raise ModelUnavailable(
                    f"{self._name} did not answer within {request.seconds:g} s"
                ) from None
            except (exceptions.AgentRunError, exceptions.UserError, OSError, ValueError) as error:
                raise self._error(error) from None
        if response.finish_reason == "error":
            raise ModelUnavailable(f"{self._name} ended its answer with an error")
        reply = self._reply(response, request)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    def _settings_for(self, request: ModelRequest) -> ModelSettings:
        if request.tools and not request.as_schema:
            return self._settings
        return ModelSettings(max_retries=0)

    def _reply(self, response: messages.ModelResponse, request: ModelRequest) -> ModelReply:
        text = response.text or ""
        calls = tuple(
            RequestedCall(
                id=part.tool_call_id or f"call_{at}", name=part.tool_name, arguments=text_of(part)
            )
            for at, part in enumerate(response.tool_calls)
        )
        if request.as_schema and not calls and (call := call_in(text)) is not None:
            text, calls = "", (call,)
        stop = _STOPS.get(response.finish_reason, "end")
        return ModelReply(
            text=text,
            calls=calls,
            stop="calls" if calls and stop == "end" else stop,
            usage=self._usage(response, request),
            model=response.model_name or self._model.model_name,
            parts=own_parts(response),
        )

    def _usage(self, response: messages.ModelResponse, request: ModelRequest) -> TokenUsage:
        told = response.usage
        if (told.input_tokens or told.output_tokens) and not told.unmeasured_requests:
            cached = min(told.cache_read_tokens, told.input_tokens)
            usage = TokenUsage(
                input_tokens=told.input_tokens,
                output_tokens=told.output_tokens,
                cached_tokens=cached,
                cost=_cost(response),
            )
        else:
            asked = len(repr(request.messages)) + len(repr(request.tools))
            said = len(response.text or "") + sum(map(len, map(text_of, response.tool_calls)))
            usage = TokenUsage(
                input_tokens=asked // _LETTERS, output_tokens=said // _LETTERS, estimated=True
            )
        return usage if self._price is None else self._price.charged(usage)

    def _error(self, error: Exception) -> ModelError:
        said = words_of(_told_of(error), self._secrets)
        text = f"{self._name} answered: {said}" if said else f"{self._name} gave no answer"
        status = getattr(error, "status_code", None)
        refused = isinstance(status, int) and 300 <= status < 500 and status not in AGAIN
        if refused or isinstance(error, _REFUSED):
            return ModelRefused(text)
        wait: object = getattr(error, "retry_after", None)
        if not isinstance(wait, float | int) or wait != wait:
            return ModelUnavailable(text)
        return ModelUnavailable(text, retry_after=min(max(float(wait), 0.0), LONGEST_WAIT))

    def _example(self) -> messages.ModelResponse:
        return messages.ModelResponse(
            parts=[],
            usage=RequestUsage(input_tokens=1, output_tokens=1),
            model_name=self._model.model_name,
            provider_name=self._model.system,
        )


def _found(name: str) -> providers.Model[Any]:
    try:
        return providers.infer_model(name)
    except ImportError as error:
        provider = name.partition(":")[0]
        raise ConfigError(
            f"the client of {provider!r} is not installed: {str(error).splitlines()[0]}",
            hint=f'pip install "pydantic-ai-slim[{provider}]"',
        ) from None
    except (exceptions.UserError, ValueError) as error:
        said = " ".join(str(error).split())[:MOST_SAID]
        raise ConfigError(f"there is no model {name!r}: {said}") from None


def _parameters(request: ModelRequest) -> providers.ModelRequestParameters:
    if request.as_schema and request.tools:
        schema = OutputObjectDefinition(json_schema=call_schema(request.tools), name="call")
        return providers.ModelRequestParameters(output_mode="native", output_object=schema)
    return providers.ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.input_schema),
            )
            for tool in request.tools
        ],
        output_mode="tool" if request.tools else "text",
        allow_text_output=not (request.tools and request.must_call),
    )


def _told_of(error: Exception) -> str:
    body: object = getattr(error, "body", None)
    said = str(_message_in(body) if body else getattr(error, "message", "") or error)
    status = getattr(error, "status_code", None)
    return " ".join(f"{status or ''} {said or type(error).__name__}".split())


def _message_in(body: object) -> object:
    """Return what a provider says of an error, out of `{"error": {"message": ...}}` or less."""
    for key in ("error", "message"):
        if isinstance(body, Mapping):
            body = cast("Mapping[str, object]", body).get(key, cast("object", body))
    return body


def _cost(response: messages.ModelResponse) -> float | None:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
