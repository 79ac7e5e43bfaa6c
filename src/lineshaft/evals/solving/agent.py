"""One agent on one task: the loop of a microagent over a session's tools, metered."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from msgspec import field
from msgspec.structs import replace

from lineshaft import kit
from lineshaft.agents import AgentLoop, Budget, ExitTool, Seams
from lineshaft.errors import AgentError, ModelRefused, ModelUnavailable
from lineshaft.evals._results import CellOutcome
from lineshaft.evals._variants import Variant
from lineshaft.evals.solving.tokens import Tokeniser
from lineshaft.evals.tasks import EvalTask, World
from lineshaft.models import (
    CallAnswer,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    OfferedTool,
    TokenUsage,
    UserMessage,
)
from lineshaft.policy import Policy
from lineshaft.scripts import RUN_SCRIPT
from lineshaft.session import Session
from lineshaft.tools import Toolset, model_name
from lineshaft.trace import secret_values
from lineshaft.values import Answer, CallResult, Done, Event, Failure, Pending, Struct, Value

_ASKED = "asked"


class Spending(Struct, kw_only=True):
    """The spending of an attempt so far."""

    turns: int = 0
    """Replies of the model."""

    input_tokens: int = 0
    """Tokens of all requests."""

    output_tokens: int = 0
    """Tokens of all replies."""

    cached_tokens: int = 0
    """Of `input_tokens`, those that the provider had from before."""

    tokens_by: str = ""
    """Who counted: `provider`, or the name of the tokeniser."""

    model_seconds: float = 0.0
    """Of `seconds`, those in which the model was waited for."""

    seconds: float = 0.0
    """Seconds that the agent worked."""


Spent = Callable[[Spending], None]


class Attempt(Struct, kw_only=True):
    """Everything that an attempt at a cell leaves to be looked at; redacted."""

    conversation: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    scripts: list[str] = field(default_factory=list[str])
    """As the model sent them, in order."""

    events: list[Event] = field(default_factory=list[Event])


class Workplace(Struct, frozen=True, kw_only=True):
    """The files, tools and task of an attempt."""

    folder: str
    task: EvalTask
    world: World
    variant: Variant
    tokeniser: Tokeniser
    spent: Spent = lambda _: None
    """Takes what was spent, after each request and at the end."""


class Solved(Struct, frozen=True, kw_only=True):
    """How an agent came to its end; whether it is right, a checker says."""

    outcome: CellOutcome | None
    """None: it has a result, which is to be checked."""

    result: object
    reason: str
    stuck: str
    calls: int
    spending: Spending
    attempt: Attempt


async def solve(model: Model, place: Workplace) -> Solved:
    """Let a model work on a task until it has a result, a budget is used up, or it cannot go on.

    What the model or the tools do is never raised.

    Args:
        model: The model.
        place: The copy of the task's files, the tools, the variant.

    Raises:
        ConfigError: The variant cannot be used here.
    """
    asked: list[str] = []
    meter = _Meter(model, place, asked)
    task, variant, attempt = place.task, place.variant, Attempt()
    given = [*kit.tools(*task.kit).values()] if task.kit else []
    async with Session(
        Toolset([*given, *place.world.tools]),
        workspace=place.folder,
        policy=Policy.from_dict({"mode": variant.mode or task.mode}),
        engine=variant.engine,
        scripts=variant.script,
        approver=partial(_deny, asked),
        store=False,
        sinks=[attempt.events.append],
        secrets=secret_values(os.environ),
    ) as session:
        desk = _Desk(session, variant, attempt)
        exit_tool = ExitTool(task.answer)
        limits = task.limits
        loop = AgentLoop(
            tools=desk.offered,
            exit_tool=exit_tool,
            budget=Budget(
                turns=limits.turns,
                calls=limits.calls,
                tokens=limits.tokens,
                seconds=limits.seconds,
            ),
            seams=Seams(
                ask=meter.ask,
                call=desk.call,
                validate=_accepted,
                commit=_committed,
                notify=lambda _: None,
            ),
        )
        first = UserMessage(text=_instructions(session, place))
        outcome: CellOutcome | None = None
        result, reason, stuck, calls = None, "", "", 0
        try:
            end = await loop.run((first,))
            result, messages, calls = end.result, end.messages, end.usage.calls
        except AgentError as error:
            outcome, stuck = _outcome_of(error), error.code
            reason, messages = error.message, error.history
            calls = error.usage.calls if error.usage else 0
        meter.note()
        if asked:
            outcome, stuck, reason = (
                "fail",
                _ASKED,
                f"{asked[0]} asks a person, and nobody is there",
            )
        shown = session.without_secrets([_told(message) for message in messages])
        attempt.conversation = shown
        attempt.scripts = [str(session.without_secrets(script)) for script in attempt.scripts]
        reason = str(session.without_secrets(reason))
    return Solved(
        outcome=outcome,
        result=result,
        reason=reason,
        stuck=stuck,
        calls=calls,
        spending=meter.spending,
        attempt=attempt,
    )


class _Meter:
    """A model with what it is asked counted and timed."""

    def __init__(self, model: Model, place: Workplace, asked: Sequence[str]) -> None:
        self._model = model
        self._asked = asked
        self._tokeniser = place.tokeniser
        self._spent = place.spent
        self._begun = time.monotonic()
        self.spending = Spending(tokens_by=place.tokeniser.name)

    async def ask(self, request: ModelRequest) -> ModelReply:
        """Send one request, and note what it took; also where it fails."""
        if self._asked:
            raise ModelRefused("a person was asked: the run is over")
        begun = time.monotonic()
        spending = self.spending
        try:
            reply = await self._model.complete(request)
        finally:  # also where the loop has no more time for it
            spending.model_seconds += time.monotonic() - begun
            self.note()
        usage = reply.usage
        if usage == TokenUsage() or usage.estimated:
            usage = TokenUsage(
                input_tokens=self._tokeniser.of_request(request),
                output_tokens=self._tokeniser.of_message(reply),
            )
            reply = replace(reply, usage=usage)
        else:
            spending.tokens_by = "provider"
        spending.turns += 1
        spending.input_tokens += usage.input_tokens
        spending.output_tokens += usage.output_tokens
        spending.cached_tokens += usage.cached_tokens
        self.note()
        return reply

    def note(self) -> None:
        """Note and tell what was spent until now."""
        self.spending.seconds = time.monotonic() - self._begun
        self._spent(self.spending)


class _Desk:
    """The tools of one run, as its model has them."""

    def __init__(self, session: Session, variant: Variant, attempt: Attempt) -> None:
        self._session = session
        self._scripts = attempt.scripts
        names = variant.direct_of(spec.name for spec in session.open_to("model"))
        self._names = {model_name(name): name for name in names}
        told = cast("Sequence[dict[str, Any]]", session.definitions("mcp", direct=names))
        self.offered = [
            OfferedTool(
                name=each["name"],
                description=each["description"],
                input_schema=each["inputSchema"],
            )
            for each in told
        ]

    async def call(self, name: str, arguments: Mapping[str, object]) -> Done:
        """Make one call of the model."""
        if name == RUN_SCRIPT.name:
            if isinstance(arguments.get("code"), str):
                self._scripts.append(str(arguments["code"]))
            done = await self._session.handle(name, arguments)
            if done.is_error:
                return Failure(code="E_SCRIPT", message=done.text)
            return Value(done.text)
        made = await self._session.call(self._names[name], arguments, origin="model")
        if made.error is not None:
            return self._failure(name, made)
        return Value(self._session.without_secrets(made.value))

    def _failure(self, name: str, made: CallResult) -> Failure:
        error = made.error
        if error is None:
            raise AssertionError(name)
        shown = self._session.without_secrets((error.message, error.hint))
        return Failure(code=error.code, message=shown[0], hint=shown[1])


async def _deny(asked: list[str], pending: Sequence[Pending]) -> Mapping[str, Answer]:
    asked += [call.tool for call in pending]
    return {call.id: Answer(allow=False, reason="nobody is there") for call in pending}


async def _accepted(result: object) -> object:
    del result
    return None


async def _committed(result: object) -> None:
    del result


def _instructions(session: Session, place: Workplace) -> str:
    if place.variant.prompt == "plain":
        return place.task.prompt
    return f"{session.instructions()}\n\n{place.task.prompt}"


def _outcome_of(error: AgentError) -> CellOutcome:
    if isinstance(error.__cause__, ModelRefused | ModelUnavailable):
        return "invalid"
    return "limit" if error.code == "E_AGENT_BUDGET" else "fail"


def _told(message: Message) -> dict[str, object]:
    """Return a message as JSON."""
    if isinstance(message, ModelReply):
        calls = [
            {"name": call.name, "arguments": _parsed(call.arguments)} for call in message.calls
        ]
        return {"role": "model", "text": message.text, "calls": calls}
    if isinstance(message, CallAnswer):
        return {
            "role": "tool",
            "name": message.name,
            "text": message.text,
            "failed": message.failed,
        }
    return {"role": "user", "text": message.text}


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
