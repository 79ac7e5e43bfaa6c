"""What a tool asks the person behind its run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from lineshaft.errors import ToolError
from lineshaft.gate._authority import Lease
from lineshaft.gate._book import Entry
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._clock import RunClock
from lineshaft.gate._frame import Frame
from lineshaft.gate._lanes import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The way of one call to the person behind its run; all clocks stand still meanwhile."""

    frame: Frame
    entry: Entry
    lease: Lease
    clock: RunClock
    """The call's own."""

    place: Place
    """Where it stands in its lanes; others may go while it waits for a person."""

    async def __call__(self, message: str, schema: Mapping[str, object]) -> object:
        """Ask for a value.

        Raises:
            ToolError: `E_DENIED`: nobody can be asked, or they would not answer.
        """
        elicit = self.frame.caller.elicit
        if elicit is None or self.lease.over:
            raise ToolError("E_DENIED", f"nobody can be asked: {message!r}")
        name = self.entry.call.tool
        self.frame.book.note("log", self.entry.id, text=f"{name} asks: {message}")
        ending = Ending()
        with self.frame.controls.paused(), self.clock.paused():
            async with self.place.aside(), self.frame.turn:
                asked = partial(elicit, f"{name}: {message}", schema)
                await bounded(asked, seconds=None, ending=ending)
        if isinstance(ending.error, ToolError):
            raise ending.error
        if ending.error is not None:
            text = f"the person could not be asked: {type(ending.error).__name__}: {ending.error}"
            raise ToolError("E_DENIED", text)
        return ending.value
