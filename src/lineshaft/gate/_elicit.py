"""What a tool asks whoever is behind its run: a form, an answer of a model, their roots."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast

import anyio

from lineshaft.errors import ToolError
from lineshaft.gate._authority import Lease
from lineshaft.gate._book import Entry
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._clock import RunClock
from lineshaft.gate._frame import Frame
from lineshaft.gate._lanes import Place
from lineshaft.trace import Redactor
from lineshaft.values import Elicit, Roots, Sample

_BINARY = frozenset({"data", "blob"})
"""Under these names stand images and sounds, in which nothing is to be replaced."""

_DEEPEST = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The way of one call to whoever is behind its run; all clocks stand still meanwhile."""

    frame: Frame
    entry: Entry
    lease: Lease
    clock: RunClock
    """The call's own."""

    place: Place
    """Where it stands in its lanes; others may go while it waits."""

    one: anyio.Lock = field(default_factory=anyio.Lock)
    """One question of the call at a time."""

    @property
    def elicit(self) -> Elicit | None:
        """Asks their person for a value; None: nobody can be asked."""
        elicit = self.frame.caller.elicit
        if elicit is None:
            return None

        async def ask(message: str, schema: Mapping[str, object]) -> object:
            whole = f"{self.entry.call.tool}: {message}"
            return await self._put(f"asks: {message}", partial(elicit, whole, schema), person=True)

        return ask

    @property
    def sample(self) -> Sample | None:
        """Asks their model; None: none is offered."""
        sample = self.frame.caller.sample
        if sample is None:
            return None

        async def ask(request: Mapping[str, object]) -> Mapping[str, object]:
            hidden = cast("Mapping[str, object]", _hidden(request, self.frame.gate.redactor))
            return await self._put("asks a model", partial(sample, hidden))

        return ask

    @property
    def roots(self) -> Roots | None:
        """Asks for the folders that they work in; None: nobody tells."""
        roots = self.frame.caller.roots
        if roots is None:
            return None

        async def ask() -> Sequence[Mapping[str, object]]:
            return await self._put("asks for the roots", roots)

        return ask

    async def _put(self, said: str, ask: Callable[[], Awaitable[T]], *, person: bool = False) -> T:
        """Ask, and note that it was.

        Args:
            said: What the record tells.
            ask: Gives the answer.
            person: Whether a person is asked by us: of these questions a run has one at a time.

        Raises:
            ToolError: `E_DENIED`: they would not answer, or the call is over.
        """
        if self.lease.over:
            raise ToolError("E_DENIED", f"nobody can be asked, since the call is over: {said}")
        frame, ending = self.frame, Ending()
        frame.book.note("log", self.entry.id, text=f"{self.entry.call.tool} {said}")
        with frame.controls.paused(), self.clock.paused():
            async with self.one, self.place.aside(), frame.turn if person else nullcontext():
                await bounded(ask, seconds=None, ending=ending)
        error = ending.error
        if isinstance(error, ToolError):
            raise error
        if error is not None:
            who = "the person" if person else "whoever is behind the run"
            text = f"{who} could not be asked: {type(error).__name__}: {error}"
            raise ToolError("E_DENIED", text)
        return cast("T", ending.value)


def _hidden(value: object, redactor: Redactor, depth: int = 0) -> object:
    """Return JSON without secrets in its texts: they are for no model."""
    if depth > _DEEPEST:
        raise ToolError("E_INVALID_ARGS", f"what a model is asked is more than {_DEEPEST} deep")
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
