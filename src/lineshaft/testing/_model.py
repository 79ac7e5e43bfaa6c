"""A model whose replies are written down, for tests of agents: yours too."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import pydantic_core
from msgspec.structs import replace

from lineshaft.errors import ConfigError
from lineshaft.models import (
    CallAnswer,
    ModelReply,
    ModelRequest,
    OnText,
    RequestedCall,
    TokenUsage,
    UserMessage,
)

Scripted = ModelReply | Exception | Callable[[ModelRequest], ModelReply]
"""One reply, an error to raise, or a function that makes a reply out of the request."""

_LETTERS = 4
"""Characters of a token, as an estimate."""


class ScriptedModel:
    """Gives replies in order; a request beyond the last is an `AssertionError`.

    Each conversation of a microagent begins at the first reply: turn 3 is given the third, in
    whichever process. So runs that pause and go on elsewhere can be tried, and agents of one name
    that work in parallel; where these are to say different things, write a function of the
    request. An error is raised once for each conversation before the reply that follows it, and
    once more where the run goes on in another process. Requests of no microagent are given one
    reply after another.

    Tokens are estimated from lengths, and marked so, unless a reply says them.

    Args:
        replies: What it says, one for each turn. As a mapping: what it says to each agent, by the
            agent's name.
        name: As `Model.name`.

    Raises:
        ConfigError: There is something else among the replies.
    """

    def __init__(
        self,
        replies: Iterable[Scripted] | Mapping[str, Iterable[Scripted]],
        *,
        name: str = "scripted",
    ) -> None:
        self._by_agent = isinstance(replies, Mapping)
        given = cast(
            "Mapping[str, Iterable[Scripted]]", replies if self._by_agent else {"": replies}
        )
        self._replies = {agent: _replies(each) for agent, each in given.items()}
        self._said = dict.fromkeys(self._replies, 0)
        self._raised = Counter[tuple[str, str, int]]()
        self._name = name
        self.requests: list[ModelRequest] = []
        """What it was asked, in order."""

    @property
    def name(self) -> str:
        """As `Model.name`."""
        return self._name

    @property
    def priced(self) -> bool:
        """As `Model.priced`; its replies cost nothing unless they say so."""
        return True

    @property
    def unused(self) -> dict[str, int]:
        """How many replies were not asked for, by agent; agents with none are left out.

        Replies that are not given by agent stand under an empty name.
        """
        left = {agent: len(each) - self._said[agent] for agent, each in self._replies.items()}
        return {agent: count for agent, count in left.items() if count > 0}

    async def complete(self, request: ModelRequest, *, on_text: OnText | None = None) -> ModelReply:
        """As `Model.complete`.

        Raises:
            AssertionError: There is no reply left.
        """
        self.requests.append(request)
        reply = self._next(request)
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, ModelReply):
            reply = _reply_of(reply, request)
        if on_text is not None and reply.text:
            on_text(reply.text)
        if reply.usage == TokenUsage():
            asked = sum(map(_length, request.messages))
            said = len(reply.text) + sum(len(each.arguments) for each in reply.calls)
            usage = TokenUsage(
                input_tokens=asked // _LETTERS,
                output_tokens=said // _LETTERS,
                estimated=True,
                cost=0.0,
            )
            reply = replace(reply, usage=usage)
        return replace(reply, model=reply.model or self._name)

    def _next(self, request: ModelRequest) -> Scripted:
        agent = request.agent if self._by_agent else ""
        if agent not in self._replies:
            known = ", ".join(self._replies) or "none"
            raise AssertionError(
                f"{self._name} has no replies for the agent {agent!r}, only for: {known}"
            )
        replies = self._replies[agent]
        place = self._place(request, replies) if request.turn else self._said[agent]
        if place >= len(replies):
            whom = f" for the agent {agent!r}" if agent else ""
            count = len(replies)
            raise AssertionError(
                f"{self._name} has {count} replies{whom}, and was asked once more: {_told(request)}"
            )
        self._said[agent] = max(self._said[agent], place + 1)
        return replies[place]

    def _place(self, request: ModelRequest, replies: Sequence[Scripted]) -> int:
        """Return which reply a turn is given: errors come before the reply that they delay."""
        given = [place for place, each in enumerate(replies) if not isinstance(each, Exception)]
        before = request.turn - 2
        if before >= len(given):
            return len(replies)
        key = (request.agent, request.conversation, request.turn)
        place = (given[before] + 1 if before >= 0 else 0) + self._raised[key]
        if place < len(replies) and isinstance(replies[place], Exception):
            self._raised[key] += 1
        return place


def _reply_of(given: Callable[[ModelRequest], ModelReply], request: ModelRequest) -> ModelReply:
    """Return the reply that a function gives.

    Raises:
        AssertionError: It gives something else.
    """
    reply = cast("object", given(request))
    if not isinstance(reply, ModelReply):
        raise AssertionError(f"a function gave {reply!r:.80}, no reply: write say({reply!r:.40})")  # noqa: TRY004  as other faults of a test
    return reply


def say(text: str) -> ModelReply:
    """Return a reply of text alone, which calls nothing."""
    return ModelReply(text=text)


def calls(*made: tuple[str, object] | ModelReply) -> ModelReply:
    """Return a reply that calls several tools.

    Args:
        *made: Name and arguments of each, or a reply that calls it; arguments that are text stay as
            they are, also where they are no JSON.
    """
    told: list[tuple[str, object]] = []
    for each in made:
        if isinstance(each, ModelReply):
            told += [(requested.name, requested.arguments) for requested in each.calls]
        else:
            told.append(each)
    requested = tuple(
        RequestedCall(
            id=f"call_{number}",
            name=name,
            arguments=given
            if isinstance(given, str)
            else json.dumps(given, default=pydantic_core.to_jsonable_python),
        )
        for number, (name, given) in enumerate(told, 1)
    )
    return ModelReply(calls=requested, stop="calls")


def call(name: str, /, **arguments: object) -> ModelReply:
    """Return a reply that calls one tool."""
    return calls((name, arguments))


def exit_with(value: object = None, /, **fields: object) -> ModelReply:
    """Return a reply that ends an agent with a result: one value, or the fields of an object.

    Raises:
        ConfigError: Both are given.
    """
    if value is not None and fields:
        raise ConfigError(f"exit_with was given {value!r} and fields", hint="give one of them")
    return call("Exit", result=fields or value)


def _replies(given: Iterable[Scripted]) -> list[Scripted]:
    """Return replies as a list.

    Raises:
        ConfigError: They are none, or something else is among them.
    """
    one = isinstance(cast("object", given), str | ModelReply) or callable(given)
    if one or not isinstance(cast("object", given), Iterable):
        raise ConfigError(f"replies must be a list of replies, not {given!r:.80}")
    found = list(given)
    for number, each in enumerate(found, 1):
        if not isinstance(each, ModelReply | Exception) and not callable(cast("object", each)):
            raise ConfigError(
                f"reply {number} is {each!r:.80}, no reply",
                hint="write say(text), call(tool, ...), calls(...) or exit_with(result)",
            )
    return found


def _length(message: UserMessage | ModelReply | CallAnswer) -> int:
    own = len(message.text)
    if isinstance(message, ModelReply):
        return own + sum(len(each.arguments) for each in message.calls)
    return own


def _told(request: ModelRequest) -> str:
    last = request.messages[-1] if request.messages else None
    return repr(last)[:500]
