"""The loop of a microagent: ask the model, make its calls, until it exits with a good result.

Above: the declaration of an agent. Below: what `Seams` lists; the loop itself calls no tool and
sends nothing. Mistakes of a model are told to it and counted. Only a budget, a model that cannot be
asked or repeats itself, and the model's own `GiveUp` end the loop without a result.
"""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Literal

import anyio
from msgspec import field

from lineshaft.agents._budget import AgentUsage, Budget
from lineshaft.agents._exit import EXIT, GIVE_UP, GIVING_UP, ExitTool, object_in
from lineshaft.agents._history import answered
from lineshaft.errors import AgentError, ModelRefused, ModelUnavailable, ToolError
from lineshaft.models import (
    CallAnswer,
    Message,
    ModelReply,
    ModelRequest,
    OfferedTool,
    RequestedCall,
    UserMessage,
)
from lineshaft.values import Done, Failure, Struct

RETRIES = 2
"""How often a request is made again that the provider could not answer."""

MOST_READ = 50_000
"""Characters of one answer that the model is given."""

_TOLD_AT = 2
_ENDS_AT = 6
"""How often the same call may have the same result."""

_LOOK_SECONDS = 0.05
"""How soon it is looked again whether a clock that stood still goes on."""

_LONGEST_WAIT = 60.0
_FIRST_WAIT = 1.0

_HINTS: Mapping[str, str] = {
    "E_AGENT_BUDGET": "give it a smaller task, better instructions, or more of that budget",
    "E_AGENT_INVALID": "say in its instructions what a result must be, or check it less strictly",
}

_CUT = ToolError(
    "E_INVALID_ARGS",
    "the answer was cut at its length, in the middle of this call",
    hint="write less in one call",
)

EventName = Literal["turn", "reply", "call", "answer", "refused", "retry", "as_schema"]


class AgentEvent(Struct, frozen=True, kw_only=True):
    """One step of a loop, for those who watch."""

    kind: EventName
    """What happened."""

    turn: int
    """From 1."""

    data: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON-like; its keys depend on the kind."""


class ValidatorFailed(Exception):
    """A validator is at fault itself, and says nothing of the result.

    Args:
        message: What it did.
        hint: One more line of advice.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Seams(Struct, frozen=True, kw_only=True):
    """What a loop acts by."""

    ask: Callable[[ModelRequest], Awaitable[ModelReply]]
    """Sends one request, once. Raises `ModelRefused`, `ModelUnavailable`."""

    call: Callable[[str, Mapping[str, object]], Awaitable[Done]]
    """Makes one call of a tool, by the name that the model knows."""

    validate: Callable[[object], Awaitable[object]]
    """Looks at a result: None or True accept it, anything else is the reason against it. Raises
    `ValidatorFailed`, which ends the loop, and `ToolError`, which refuses the result."""

    commit: Callable[[object], Awaitable[None]]
    """Makes the agent's changes its parent's, for a result that was accepted. A `ToolError` refuses
    the result after all."""

    notify: Callable[[AgentEvent], None]
    """Takes each step at once, in order."""

    elapsed: Callable[[], float] | None = None
    """Gives the seconds since the loop began, those before a pause among them; they may stand
    still. None: its own."""

    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    """Waits some seconds before a request is made again."""


class AgentEnd(Struct, frozen=True, kw_only=True):
    """How a loop ended well."""

    result: object
    """What the model exited with, accepted."""

    messages: tuple[Message, ...]
    """The conversation, the last reply included."""

    usage: AgentUsage
    """What it used."""


class AgentLoop:
    """One run of a microagent.

    Args:
        tools: What the model may call, beside `Exit` and `GiveUp`.
        exit_tool: Takes the result.
        budget: What it may use.
        seams: What it acts by.
        name: Of the agent.
    """

    def __init__(
        self,
        *,
        tools: Sequence[OfferedTool],
        exit_tool: ExitTool,
        budget: Budget,
        seams: Seams,
        name: str = "",
    ) -> None:
        self._tools = (*tools, exit_tool.offered, GIVING_UP)
        self._names = [tool.name for tool in tools]
        self._exit = exit_tool
        self._budget = budget
        self._seams = seams
        self._name = name
        self._messages: list[Message] = []
        self._usage = AgentUsage()
        self._as_schema = False
        self._reason = ""
        self._done = False
        self._result: object = None
        self._made = Counter[str]()
        self._elapsed = seams.elapsed or _seconds_from_now()
        self._time = anyio.CancelScope()
        self._alarm: asyncio.TimerHandle | None = None

    async def run(self, messages: Sequence[Message]) -> AgentEnd:
        """Work until the model exits with a result that is accepted.

        Args:
            messages: The conversation so far: the instructions, or a history, in which calls
                without an answer are given one.

        Raises:
            AgentError: A budget is used up, the model cannot be asked or repeats itself, or it
                gave up.
        """
        self._messages = list(answered(messages))
        with self._timed():
            while not self._done:
                if spent := self._usage.spent(self._budget):
                    raise self._error("E_AGENT_BUDGET", f"it used {spent} without a result")
                await self._turn()
            return AgentEnd(result=self._result, messages=tuple(self._messages), usage=self._usage)
        seconds = self._budget.seconds
        spent = "its only second" if seconds == 1 else f"all {seconds:g} seconds"
        raise self._error("E_AGENT_BUDGET", f"it used {spent} without a result")

    @contextmanager
    def _timed(self) -> Generator[None]:
        """Leave the block when the budget's seconds are over."""
        with anyio.CancelScope() as self._time:
            self._watch()
            try:
                yield
            finally:
                if self._alarm is not None:
                    self._alarm.cancel()

    def _watch(self) -> None:
        """Look at the clock now, and again when the time may be over: the clock may stand still."""
        if self._alarm is not None:
            self._alarm.cancel()
        left = self._budget.seconds - self._elapsed()
        if left <= 0:
            self._time.cancel()
            return
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_later(max(left, _LOOK_SECONDS), self._watch)

    async def _turn(self) -> None:
        self._usage.turns += 1
        self._tell("turn")
        reply = await self._asked()
        self._messages.append(reply)
        self._tell("reply", text=reply.text, calls=[call.name for call in reply.calls])
        if not reply.calls:
            self._called_nothing(reply)
        for call in reply.calls:
            answer = await self._answered(
                call, alone=len(reply.calls) == 1, cut=_is_cut(call, reply)
            )
            if self._done:
                return
            self._messages.append(answer)
            self._tell("answer", name=call.name, failed=answer.failed)

    async def _asked(self) -> ModelReply:
        request = ModelRequest(
            messages=tuple(self._messages),
            tools=self._tools,
            as_schema=self._as_schema,
            agent=self._name,
        )
        for attempt in range(RETRIES + 1):
            self._usage.requests += 1
            try:
                reply = await self._seams.ask(request)
            except ModelRefused as error:
                hint = error.hint or "look at the model's name, its address and its key"
                raise self._error("E_AGENT_MODEL", error.message, hint=hint) from error
            except ModelUnavailable as error:
                if attempt == RETRIES:
                    asked = f"it was asked {RETRIES + 1} times"
                    hint = f"{asked}; is the model's server up, and its address right?"
                    raise self._error("E_AGENT_MODEL", error.message, hint=hint) from error
                self._tell("retry", message=error.message)
                wait = error.retry_after
                await self._seams.wait(
                    _FIRST_WAIT * 2**attempt if wait is None else min(wait, _LONGEST_WAIT)
                )
            else:
                self._usage.take(reply.usage)
                self._watch()  # a recorded reply says what an earlier segment of the run used
                return reply
        raise AssertionError("the last attempt returns or raises")

    def _called_nothing(self, reply: ModelReply) -> None:
        why = {
            "length": "Your answer was cut at its length. ",
            "filter": "A filter of the provider cut your answer. ",
        }.get(reply.stop, "")
        if not (self._as_schema or why):
            self._as_schema = True  # the server does not make its model call
            self._tell("as_schema")
        self._messages.append(
            UserMessage(text=f"{why}You called no tool. Call one, or {EXIT} with your result.")
        )

    async def _answered(self, call: RequestedCall, *, alone: bool, cut: bool) -> CallAnswer:
        """Make one call that the model wrote, and return what it is told."""
        if call.name == EXIT:
            return await self._exited(call, alone=alone, cut=cut)
        if call.name == GIVE_UP:
            raise self._gave_up(call)
        if self._usage.calls >= self._budget.calls:
            spent = (
                "its only call" if self._budget.calls == 1 else f"all {self._budget.calls} calls"
            )
            raise self._error("E_AGENT_BUDGET", f"it used {spent} without a result")
        self._usage.calls += 1
        if call.name not in self._names:
            text = f"E_UNKNOWN_TOOL: {self._unknown(call.name)}"
            return self._repeated(call, _answer(call, text))
        if cut:
            return self._repeated(call, _answer(call, f"{_CUT.code}: {_CUT.message} ({_CUT.hint})"))
        try:
            arguments = object_in(call.arguments)
        except ToolError as error:
            return self._repeated(call, _answer(call, f"{error.code}: {error.message}"))
        self._tell("call", name=call.name, arguments=arguments)
        done = await self._seams.call(call.name, arguments)
        if isinstance(done, Failure):
            hint = f" ({done.hint})" if done.hint else ""
            return self._repeated(call, _answer(call, f"{done.code}: {done.message}{hint}"))
        return self._repeated(call, _answer(call, _text(done.value), failed=False))

    async def _exited(self, call: RequestedCall, *, alone: bool, cut: bool) -> CallAnswer:
        if cut:
            return self._refused(call, _CUT)
        if not alone:
            text = f"{EXIT} stands beside other calls; call it alone, once you have read theirs"
            return self._refused(call, ToolError("E_INVALID_ARGS", text))
        try:
            result = self._exit.read(call.arguments)
            said = await self._seams.validate(result)
            if said is None or said is True:
                await self._seams.commit(result)
        except ValidatorFailed as error:
            hint = error.hint or "the fault is the validator's, not the model's"
            raise self._error("E_AGENT_VALIDATOR", error.message, hint=hint) from error
        except ToolError as error:
            return self._refused(call, error)
        if said is not None and said is not True:
            return self._refused(call, ToolError("E_INVALID_RESULT", _reason(said)))
        self._done, self._result = True, result
        return _answer(call, "", failed=False)

    def _refused(self, call: RequestedCall, error: ToolError) -> CallAnswer:
        self._usage.failed_exits += 1
        self._reason = error.message
        self._tell("refused", reason=error.message)
        if self._usage.failed_exits >= self._budget.failed_exits:
            why = f"{self._usage.failed_exits} results did not pass validation: {error.message}"
            raise self._error("E_AGENT_INVALID", why)
        hint = f" ({error.hint})" if error.hint else ""
        text = f"The result did not pass validation: {error.message}{hint}. Try again."
        return _answer(call, text)

    def _gave_up(self, call: RequestedCall) -> AgentError:
        try:
            self._reason = str(object_in(call.arguments).get("reason", ""))
        except ToolError:
            self._reason = call.arguments
        return self._error("E_AGENT_GAVE_UP", f"it gave up: {self._reason}")

    def _unknown(self, name: str) -> str:
        close = get_close_matches(name, self._names, n=1)
        near = f"did you mean {close[0]!r}? " if close else ""
        return (
            f"there is no tool {name[:100]!r}; {near}there are {', '.join(self._names) or 'none'}"
        )

    def _repeated(self, call: RequestedCall, answer: CallAnswer) -> CallAnswer:
        """Return an answer, with a remark where the same call had the same one before."""
        what = json.dumps([call.name, call.arguments, answer.text])
        key = hashlib.sha256(what.encode("utf-8", "replace")).hexdigest()
        self._made[key] += 1
        times = self._made[key]
        if times >= _ENDS_AT:
            why = f"it made the same call of {call.name} {times} times, with the same result"
            hint = "say in the instructions what that result means, or take another model"
            raise self._error("E_AGENT_MODEL", why, hint=hint)
        if times < _TOLD_AT:
            return answer
        note = f"You made this call {times} times, with the same result. Do something else."
        return CallAnswer(
            id=answer.id,
            name=answer.name,
            text=f"{answer.text}\n\n[{note}]",
            failed=answer.failed,
        )

    def _error(self, code: str, message: str, *, hint: str = "") -> AgentError:
        return AgentError(
            code,
            message,
            history=tuple(self._messages),
            usage=self._usage,
            reason=self._reason,
            hint=hint or _HINTS.get(code, ""),
        )

    def _tell(self, kind: EventName, **data: object) -> None:
        self._seams.notify(AgentEvent(kind=kind, turn=self._usage.turns, data=data))


def _seconds_from_now() -> Callable[[], float]:
    """Return a clock that begins now."""
    begun = time.monotonic()
    return lambda: time.monotonic() - begun


def _is_cut(call: RequestedCall, reply: ModelReply) -> bool:
    """Return whether a reply ended at its length before this call of it was whole."""
    if reply.stop != "length" or call is not reply.calls[-1]:
        return False
    try:
        json.loads(call.arguments)
    except (ValueError, RecursionError):
        return True
    return False


def _answer(call: RequestedCall, text: str, *, failed: bool = True) -> CallAnswer:
    left_out = len(text) - MOST_READ
    if left_out > 0:
        text = f"{text[:MOST_READ]}\n[{left_out:,} characters left out]"
    return CallAnswer(id=call.id, name=call.name, text=text, failed=failed)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _reason(said: object) -> str:
    if said is False or said == "":
        return "it was refused"
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
