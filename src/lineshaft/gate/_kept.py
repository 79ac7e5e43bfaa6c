"""What is kept of a run while its calls pass, so that it can go on elsewhere."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from lineshaft.errors import StateError
from lineshaft.gate._book import Entry
from lineshaft.gate._frame import EndKind, Frame
from lineshaft.values import Done, KeptCall, RunState

End = Callable[[EndKind, str, str], Awaitable[None]]


class State(RunState, Protocol):
    """Keeps what a run does."""

    def holds(self, call: KeptCall, done: Done, *, size: int) -> bool:
        """Keep how a call ended where that takes no waiting; False: `finished` has to.

        Args:
            call: The call.
            done: Its result.
            size: The result's, in bytes.
        """
        ...

    @property
    def torn(self) -> str:
        """Why results are missing, so that the run cannot be executed again; empty: none is."""
        ...


class Kept:
    """What is kept of one run: nothing until `begin`.

    Args:
        frame: The run.
        end: Ends the run from outside; does not return where there is a script.
    """

    def __init__(self, frame: Frame, end: End) -> None:
        self._frame = frame
        self._end = end
        self._state: State | None = None
        self._unpausable = "nothing is kept of this run"
        self.replays = False
        """A pause would be replayed: calls must come again in the same order."""

    @property
    def begun(self) -> bool:
        """Whether what its calls come to is kept."""
        return self._state is not None

    def begin(self, state: State | None, *, unpausable: str, replays: bool) -> None:
        """Keep the run from here on.

        Args:
            state: Where; None: only where it stands when it waits is kept, and not by the gate.
            unpausable: Why it cannot wait for answers until it is resumed; empty where it can.
            replays: A pause would be replayed.
        """
        self._state, self._unpausable, self.replays = state, unpausable, replays

    def close(self) -> None:
        """Keep nothing more: the run is over."""
        self._state = None

    def why_not_pause(self) -> str:
        """Return why the run cannot wait for answers until it is resumed; empty where it can."""
        if self._unpausable or not self.replays or self._state is None:
            return self._unpausable
        return self._state.torn

    async def start(self, entry: Entry) -> None:
        """Keep that a call is about to act."""
        state, spec = self._state, entry.spec
        if state is None or spec is None or spec.effect == "read" or spec.container:
            return
        entry.stage = self._frame.view.landed
        if not (spec.staged and self._frame.keeps_back):  # else nothing acts before it lands
            await self._keep(state.started(_call(entry)))

    async def end(self, entry: Entry, done: Done) -> None:
        """Keep how a call ended."""
        if self._state is None or not entry.key or entry.answered:
            return
        call = _call(entry)
        if not self._state.holds(call, done, size=entry.weigh(done)):
            await self._keep(self._state.finished(call, done))

    async def flush(self) -> None:
        """Put all of it on the disk: before changes land."""
        if self._state is not None:
            await self._keep(self._state.flush())

    async def _keep(self, keeping: Awaitable[None]) -> None:
        try:
            with self._frame.controls.paused():  # a disk's time is no script's
                await keeping
        except StateError as error:
            if self._state is None:
                return  # the run ended meanwhile: nobody goes on with it
            text = f"what this run does cannot be kept: {error.message}"
            await self._end("error", error.code, text)


def _call(entry: Entry) -> KeptCall:
    """Return a call as the run's state keeps it; one that did not act counts as a read."""
    spec = entry.spec
    acted = entry.started is not None or entry.refusal is None
    return KeptCall(
        key=entry.key,
        id=entry.id,
        tool=spec.name if spec else entry.call.tool,
        arguments=entry.arguments,
        origin=entry.call.origin,
        parent=entry.call.parent,
        effect=spec.effect if spec and acted else "read",
        staged=entry.staged,
        stage=entry.stage,
        rule=entry.rule,
    )
