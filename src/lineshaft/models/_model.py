"""The seam to a model: one request, one reply."""

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from lineshaft.models._messages import Message, ModelReply
from lineshaft.values import Struct

OnText = Callable[[str], None]
"""Takes pieces of a reply's text as they arrive."""

REQUEST_SECONDS = 300.0
"""How long one request may take, unless it says otherwise."""


class OfferedTool(Struct, frozen=True, kw_only=True):
    """A tool as a model is told of it."""

    name: str
    """The model name: letters, digits, `_` and `-`, at most 64 characters."""

    description: str
    """What it does, in words for the model."""

    input_schema: Mapping[str, object]
    """JSON Schema of the arguments: an object."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request to a model."""

    messages: tuple[Message, ...]
    """The conversation from its beginning, in order."""

    tools: tuple[OfferedTool, ...] = ()
    """What the model may call; their names are unique."""

    must_call: bool = True
    """Whether the reply has to be a call of one of the tools."""

    as_schema: bool = False
    """Ask for the call as JSON text of a schema instead of by the provider's tools, for servers
    that do not make a model call them. The reply has `calls` all the same."""

    seconds: float = REQUEST_SECONDS
    """Then the request is given up."""

    agent: str = ""
    """The name of the microagent that asks; providers are not told it."""

    conversation: str = ""
    """Names the microagent's conversation, which has the same name after a resume. Empty: no
    microagent asks. Providers are not told it."""

    turn: int = 0
    """The turn of that conversation, from 1; a request that is made again has the same. Replies of
    a `history` do not count. 0: no microagent asks."""


@runtime_checkable
class CheckableModel(Protocol):
    """A model that can tell before its first request that it cannot be asked; others need not."""

    def check(self) -> None:
        """Look at what is there without a request: a key, a package.

        Raises:
            ConfigError: Something is missing; it says what, and the next step.
        """
        ...


class Model(Protocol):
    """Anything that answers a request: a provider, a local server, a script of replies."""

    @property
    def name(self) -> str:
        """Provider and model, as `openai:gpt-5-mini`; the same for the same answers."""
        ...

    @property
    def priced(self) -> bool:
        """Whether replies say what they cost."""
        ...

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """Send one request, once: no retry is made below.

        Args:
            request: The request.
            on_text: Takes the reply's text piece by piece, where the provider streams.

        Returns:
            The reply, also one that was cut or that calls nothing.

        Raises:
            ModelRefused: The provider refuses it, now and later: key, model name, content (401,
                403, 404, 400).
            ModelUnavailable: Another try may help: 408, 409, 429, 5xx, no connection, a time-out,
                half a stream, an answer that is not of the protocol's form.
        """
        ...
