"""Messages of a conversation with a model, in a form that no provider owns."""

from collections.abc import Mapping
from typing import Literal

from msgspec import field

from lineshaft.values import Struct

StopReason = Literal["calls", "end", "length", "filter"]
"""Why a model stopped: it called tools, it was done, its answer was cut at a length, or a filter of
the provider cut it."""


class ImagePart(Struct, frozen=True, kw_only=True):
    """One picture that a model is shown."""

    data: bytes
    """The file, whole."""

    media_type: str
    """`image/png`, `image/jpeg`, `image/gif` or `image/webp`."""


class UserMessage(Struct, frozen=True, kw_only=True):
    """Words to the model: instructions, or what the loop tells it."""

    text: str
    """The words."""

    images: tuple[ImagePart, ...] = ()
    """Pictures beside them."""


class RequestedCall(Struct, frozen=True, kw_only=True):
    """A tool call as a model wrote it; nothing of it was checked."""

    id: str
    """The provider's id of it, or one made by the adapter; an answer names it."""

    name: str
    """The tool's model name, or whatever the model wrote."""

    arguments: str
    """The text that the model wrote, which may be no JSON."""


class TokenUsage(Struct, frozen=True, kw_only=True):
    """The tokens and cost of one request."""

    input_tokens: int = 0
    """Tokens of the request, cached ones included."""

    output_tokens: int = 0
    """Tokens of the reply, reasoning included."""

    cached_tokens: int = 0
    """Those of `input_tokens` that the provider had from before."""

    estimated: bool = False
    """Whether the provider did not say, and the figures are estimates from the texts' lengths."""

    cost: float | None = None
    """US dollars; None: no price is known."""


class ModelReply(Struct, frozen=True, kw_only=True):
    """One answer of a model."""

    text: str = ""
    """What it wrote beside its calls."""

    calls: tuple[RequestedCall, ...] = ()
    """In the order in which the model wrote them."""

    stop: StopReason = "end"
    """Why it stopped."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    """What the request cost."""

    model: str = ""
    """The name under which the provider answered."""

    parts: tuple[Mapping[str, object], ...] = ()
    """JSON-like parts that only the adapter that made them understands, and that the provider wants
    back with the conversation (signed reasoning); empty where there are none."""


class CallAnswer(Struct, frozen=True, kw_only=True):
    """The answer to one call that a model requested."""

    id: str
    """Of the `RequestedCall`."""

    name: str
    """The tool's model name, as the model wrote it."""

    text: str
    """The result, or what went wrong."""

    failed: bool = False
    """Whether the call failed, or was not made."""

    images: tuple[ImagePart, ...] = ()
    """Pictures of the result."""


Message = UserMessage | ModelReply | CallAnswer
