"""Questions of a tool to its run's caller: a form, an answer of its model, its roots."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import cast

import anyio
from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import ToolError
from lineshaft.gate._authority import CallAuthority
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._clock import RunClock
from lineshaft.gate._lanes import CallPlace
from lineshaft.gate._run_info import RunInfo
from lineshaft.trace import Redactor
from lineshaft.values import Ask, Askable, Caller, Struct, not_offered

_BINARY = frozenset({"data", "blob"})
"""Under these names stand images and sounds, in which nothing is to be replaced."""

_DEEPEST = 100

_SAID: Mapping[Askable, str] = {
    "elicit": "asks: {}",
    "sample": "asks a model",
    "roots": "asks for the roots",
}


class Elicitation(Struct, frozen=True, kw_only=True):
    """The way of one call to its run's caller; all clocks stand still meanwhile."""

    run: RunInfo
    entry: CallEntry
    authority: CallAuthority
    clock: RunClock
    """The call's own."""

    place: CallPlace
    """Where it stands in its lanes; others may go while it waits."""

    one: anyio.Lock = field(default_factory=anyio.Lock)
    """One question of the call at a time."""

    async def __call__(self, asks: Sequence[Ask]) -> Sequence[object]:
        """Ask for several things, and note that it was.

        Raises:
            ToolError: `E_DENIED`: the call is over.
        """
        run, ending, name = self.run, Ending(), self.entry.call.tool
        said = [_SAID[ask.kind].format(ask.message) for ask in asks]
        if self.authority.over:
            text = f"no question can be asked, since the call is over: {name} {'; '.join(said)}"
            raise ToolError("E_DENIED", text)
        put = [_fit(ask, name, run.gate.redactor) for ask in asks]
        for each in said:
            run.call_log.note("log", self.entry.id, text=f"{name} {each}")
        # A run has one person, who gets one form at a time.
        lock = run.approver_lock if any(ask.kind == "elicit" for ask in asks) else nullcontext()
        async with self.one, self.place.aside():
            with self.authority.asking() as scope, run.paused(), self.clock.paused():
                async with lock:
                    await bounded(partial(_answers, run.caller, put), seconds=None, ending=ending)
            if scope.cancelled_caught:
                raise ToolError("E_DENIED", f"the call was over before there was an answer: {name}")
            failed = ending.error
        if failed is not None:
            raise _not_asked(failed)
        return cast("Sequence[object]", ending.value)


async def _answers(caller: Caller, asks: Sequence[Ask]) -> Sequence[object]:
    if caller.together is not None and all(ask.kind in caller.offers for ask in asks):
        return await caller.together(asks)
    answers: list[object] = []
    for ask in asks:
        try:
            answers.append(await _answer(caller, ask))
        except Exception as error:  # noqa: BLE001  the answer may come from any code
            answers.append(_not_asked(error))
    return answers


async def _answer(caller: Caller, ask: Ask) -> object:
    match ask.kind:
        case "elicit" if caller.elicit is not None:
            return await caller.elicit(ask.message, ask.schema)
        case "sample" if caller.sample is not None:
            return await caller.sample(ask.request)
        case "roots" if caller.roots is not None:
            return await caller.roots()
        case _:
            return not_offered(ask)


def _not_asked(error: BaseException) -> ToolError:
    if isinstance(error, ToolError):
        return error
    text = f"the person could not be asked: {type(error).__name__}: {error}"
    return ToolError("E_DENIED", text)


def _fit(ask: Ask, name: str, redactor: Redactor) -> Ask:
    """Return a question as the run's caller gets it."""
    if ask.kind == "elicit":
        said = redactor.acting.text(f"{name}: {ask.message}")
        schema = cast("Mapping[str, object]", _hidden(ask.schema, redactor.acting))
        return replace(ask, message=said, schema=schema)
    request = cast("Mapping[str, object]", _hidden(ask.request, redactor))
    return replace(ask, request=request)


def _hidden(value: object, redactor: Redactor, depth: int = 0) -> object:
    """Return JSON without secrets in its texts: they are for no model and no form."""
    if depth > _DEEPEST:
        raise ToolError("E_INVALID_ARGS", f"what is asked is more than {_DEEPEST} deep")
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, Mapping):
        return {
            key: each if key in _BINARY else _hidden(each, redactor, depth + 1)
            for key, each in cast("Mapping[str, object]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_hidden(each, redactor, depth + 1) for each in cast("Sequence[object]", value)]
    return value
