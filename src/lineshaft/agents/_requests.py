"""The requests of a microagent to its model, as calls of the gate.

A call names the conversation and what is new in it, so that a long conversation is not written down
anew with each turn. The log keeps the reply: a run that goes on is given it, and sends nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from inspect import isawaitable
from typing import Any, cast

import anyio
from msgspec.structs import replace

from lineshaft.errors import ModelRefused, ModelUnavailable, ToolError
from lineshaft.models import (
    CallAnswer,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    UserMessage,
    given_up_after,
)
from lineshaft.tools import Tool
from lineshaft.values import (
    ASK_MODEL,
    Call,
    Context,
    DecodeError,
    Failure,
    ModelUsage,
    Struct,
    as_dict,
    decode,
)


class TimedReply(ModelReply, frozen=True, kw_only=True):
    """A reply, and when it came: a loop that goes on decides by that, and not by its own clock."""

    elapsed: float
    """Seconds since the agent began, pauses left out."""


_CALL_SECONDS = 86_400.0
"""Of a call with its wait for a slot of the model: the agent's budget ends it sooner."""

_GRACE_SECONDS = 5.0
"""A model gives a request up itself, by `ModelRequest.seconds`; one that does not gets so many
more."""

_AFTER = re.compile(r"try again after ([0-9.]+) s")


class ModelRequests:
    """The requests of one microagent's conversations, and the tool that sends them.

    Args:
        model: Gives the model that is asked, at the first conversation.
        repeatable: Whether a request may be sent again whose end is not known.
    """

    def __init__(self, model: Callable[[], Model], *, repeatable: bool) -> None:
        self._find = model
        self._found: Model | None = None
        self._live: dict[str, _LiveRequest] = {}

        async def ask_model(
            *,
            agent: str,
            turn: int,
            model: str,
            new: list[dict[str, Any]],
            as_schema: bool,
            conversation: str,
            context: Context,
        ) -> TimedReply:
            """Ask the model of this agent.

            Args:
                agent: Its name.
                turn: Of the conversation, from 1; a request that is made again has the same.
                model: The name of the model.
                new: The messages since the last reply.
                as_schema: Whether the call is asked for as text of a schema.
                conversation: Names it; the same for all its requests.
                context: Of this call.
            """
            del agent, new, model, as_schema  # what the record shows of the request
            return await self._send(conversation, turn, context)

        self.tool: Tool[..., Any] = Tool.from_function(
            ask_model,
            effect="model",
            lane=None,
            seconds=_CALL_SECONDS,
            scriptable=False,
            idempotent=repeatable,
        )
        """Sends a request, as a call of the gate."""

    async def _send(self, conversation: str, turn: int, context: Context) -> TimedReply:
        live = self._live.pop(conversation, None)
        if live is None:
            raise ToolError("E_DENIED", "only the loop of a microagent asks its model")
        try:
            request = replace(live.request, conversation=conversation, turn=turn)
            with given_up_after(request.seconds + _GRACE_SECONDS, self._model.name):
                reply = await _reply_of(self._model, request)
            context.spent(self._model.name, ModelUsage(requests=1, **asdict(reply.usage)))
            return TimedReply(**_told(reply), elapsed=live.elapsed())
        except ModelUnavailable as error:
            wait = error.retry_after
            hint = "" if wait is None else f"try again after {wait:g} s"
            raise ToolError("E_MODEL_UNAVAILABLE", error.message, hint=hint) from error
        except ModelRefused as error:
            raise ToolError("E_MODEL_REFUSED", error.message, hint=error.hint) from error

    @property
    def _model(self) -> Model:
        """The model.

        Raises:
            ConfigError: There is none.
        """
        if self._found is None:
            self._found = self._find()
        return self._found

    def conversation(self, context: Context) -> "Conversation":
        """Return the conversation of one call of the agent."""
        return Conversation(self._live, context, self._model.name)


class _LiveRequest(Struct, frozen=True):
    """A request that is about to be sent."""

    request: ModelRequest
    elapsed: Callable[[], float]


class Conversation:
    """One conversation, of which each request tells only what is new.

    Args:
        live: The requests that are about to be sent, by conversation.
        context: Of the agent's call.
        model: The name of the model.
    """

    def __init__(self, live: dict[str, _LiveRequest], context: Context, model: str) -> None:
        self._live = live
        self._context = context
        self._model = model
        self._told = 0
        self._turn = 1
        self._begun = context.clock()

    def elapsed(self) -> float:
        """Return the seconds since it began, those before a pause among them.

        They stand still as the run's do, such as while a person is asked.
        """
        return self._context.clock() - self._begun

    async def wait(self, seconds: float) -> None:
        """Wait, unless that was done before the run was taken up."""
        if not self._context.replaying():
            await anyio.sleep(seconds)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """Send one request, once.

        Raises:
            ModelRefused: It is refused, by policy or the provider.
            ModelUnavailable: Another try may help.
        """
        key = self._context.key
        arguments: dict[str, object] = {
            "agent": request.agent,
            "turn": self._turn,
            "model": self._model,
            "new": _as_recorded(request.messages[self._told :]),
            "as_schema": request.as_schema,
            "conversation": key,
        }
        self._live[key] = _LiveRequest(request, self.elapsed)
        try:
            call = Call(tool=ASK_MODEL, arguments=arguments, origin="agent")
            done = await self._context.dispatch(call)
        finally:
            self._live.pop(key, None)
        if not isinstance(done, Failure):
            self._told = len(request.messages) + 1
            self._turn += 1
            reply = decode(TimedReply, done.value)
            self._begun = min(self._begun, self._context.clock() - reply.elapsed)
            return ModelReply(**_told(reply))
        if done.code in ("E_MODEL_UNAVAILABLE", "E_TOOL_TIMEOUT"):
            after = _AFTER.search(done.hint)
            raise ModelUnavailable(
                done.message, retry_after=float(after.group(1)) if after else None
            )
        raise ModelRefused(done.message, hint=done.hint)


async def _reply_of(model: Model, request: ModelRequest) -> ModelReply:
    """Return a model's reply.

    Raises:
        ModelRefused: A class of the user's own gave something else.
    """
    hint = f"`complete` of {type(model).__qualname__} is async, and returns a ModelReply"
    coming = cast("object", model.complete(request))
    if not isawaitable(coming):
        raise ModelRefused(f"the model returned {coming!r:.80}, without `async`", hint=hint)
    reply: object = await coming
    if not isinstance(reply, ModelReply):
        raise ModelRefused(f"the model returned {reply!r:.80}, which is no ModelReply", hint=hint)
    try:
        return decode(ModelReply, as_dict(ModelReply(**_told(reply))))
    except DecodeError as error:
        raise ModelRefused(f"the model returned a ModelReply whose {error}", hint=hint) from None


def _told(reply: ModelReply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in ModelReply.__struct_fields__}


def _as_recorded(messages: Sequence[Message]) -> list[Mapping[str, object]]:
    return [_message(each) for each in messages]


def _message(message: Message) -> Mapping[str, object]:
    match message:
        case UserMessage(text=text):
            return {"role": "user", "text": text}
        case CallAnswer():
            return {
                "role": "tool",
                "id": message.id,
                "name": message.name,
                "text": message.text,
                "failed": message.failed,
            }
        case ModelReply():
            calls = [asdict(each) for each in message.calls]
            return {"role": "model", "text": message.text, "calls": calls}
