"""What is kept of a run while it goes on: nothing before it does more than read and stage.

Until then its death changes nothing, and it leaves nothing behind, unless the session was given a
store: then its results are kept too, for a replay.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import anyio

from lineshaft.values import Done, KeptCall, KeptPause, KeptRun, ReplayInputs, RunState

_MOST_WAITING = 16_000_000
_MOST_KEPT = 64_000_000


class Begins(Protocol):
    """Where states of runs are kept."""

    async def begin(
        self,
        run: KeptRun,
        *,
        calls: Sequence[tuple[KeptCall, Done]] = (),
        pause: KeptPause | None = None,
    ) -> RunState:
        """Begin to keep a run; on the disk when this returns.

        Args:
            run: What it was begun with.
            calls: What ended before, in this order.
            pause: Where it stands; None: it goes on.
        """
        ...


class Keeping:
    """Keeps one run.

    Args:
        store: Where.
        run: What it was begun with.
        eager: Whether it is kept even if it only reads.
        state: Where it is kept already: it goes on.
        begun: Called when it is first kept.
    """

    def __init__(
        self,
        store: Begins,
        run: KeptRun,
        *,
        eager: bool,
        state: RunState | None = None,
        begun: Callable[[], None] | None = None,
    ) -> None:
        self._store = store
        self._run = run
        self._eager = eager
        self._state = state
        self._on_begin = begun
        self._waiting: list[tuple[KeptCall, Done]] = []
        self._bytes = 0
        self._beginning = anyio.Lock()
        self._too_much = ""
        self.replay: ReplayInputs | None = None
        """What the script takes from the world beside its calls."""

    @property
    def torn(self) -> str:
        """Why the script cannot be executed again over what is kept; empty where it can."""
        clocks = self.replay is not None and self.replay.torn
        return self._too_much or ("it read clocks more often than is kept" if clocks else "")

    async def started(self, call: KeptCall) -> None:
        """Keep that a call is about to act."""
        await (await self._begun()).started(call)

    def holds(self, call: KeptCall, done: Done, *, size: int) -> bool:
        """Keep how a call ended in memory, where it only read or staged and nothing has acted."""
        read = call.effect == "read"
        if read and not self._has_room(size):
            return True
        if self._state is not None or self._eager or not (read or call.staged):
            return False
        self._waiting.append((call, done))
        return True

    async def finished(self, call: KeptCall, done: Done) -> None:
        """Keep how a call ended that cannot be held."""
        await (await self._begun()).finished(call, done)

    async def flush(self) -> None:
        """Put what was kept on the disk."""
        if self._state is not None:
            await self._state.flush()

    async def paused(self, pause: KeptPause) -> None:
        """Keep where the run stands."""
        async with self._beginning:
            if self._state is None:
                self._state = await self._begin(pause)
                return
        await self._state.paused(pause)

    async def over(self, *, replayable: bool, end: Mapping[str, object] | None = None) -> None:
        """Keep no more than a replay needs."""
        if self._state is None and not (self._eager and replayable):
            return
        await (await self._begun()).over(replayable=replayable and not self.torn, end=end)

    async def _begun(self) -> RunState:
        if self._state is not None:
            return self._state
        async with self._beginning:  # calls of one moment begin it once
            if self._state is None:
                self._state = await self._begin()
        return self._state

    async def _begin(self, pause: KeptPause | None = None) -> RunState:
        waiting = tuple(self._waiting)
        state = await self._store.begin(self._run, calls=waiting, pause=pause)
        if self._on_begin is not None:
            self._on_begin()
        del self._waiting[: len(waiting)]
        while self._waiting:  # they ended meanwhile
            await state.finished(*self._waiting.pop(0))
        return state

    def _has_room(self, size: int) -> bool:
        if self._too_much:
            return False
        self._bytes += size
        in_memory = self._state is None and not self._eager
        most = _MOST_WAITING if in_memory else _MOST_KEPT
        if self._bytes > most:
            self._too_much = f"it read more than {most // 1_000_000} MB"
            self._waiting.clear()
        return not self._too_much
