"""What an earlier part of a run, or an earlier execution of its script, came to."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import anyio

from lineshaft.gate._standing import Files
from lineshaft.values import Answer, Done, Finished

_IDLE_SECONDS = 0.05
"""A script may wait for a timer beside its calls: an engine says nothing then."""

_STUCK_SECONDS = 2.0
"""The same, where it makes none of the calls that are left."""


class Recorded:
    """Results of calls, given out in the order in which they ended, each when the script waits.

    Args:
        finished: What is known, in that order.
    """

    def __init__(self, finished: Iterable[Finished]) -> None:
        self._left = {each.call.key: each for each in finished}
        self._waiting: dict[str, anyio.Event] = {}
        self._over = anyio.Event()

    def knows(self, key: str) -> bool:
        """Return whether a call's result is there and was not given out."""
        return key in self._left

    @property
    def left(self) -> tuple[Finished, ...]:
        """What was not given out."""
        return tuple(self._left.values())

    async def take(self, key: str) -> Done:
        """Return the result of a call that is known, when it is its turn."""
        turn = self._waiting[key] = anyio.Event()
        try:
            while not turn.is_set():
                with anyio.move_on_after(_IDLE_SECONDS) as idle:
                    await turn.wait()
                if idle.cancelled_caught:
                    self.release()
            return self._left[key].done
        finally:  # also if the script gives it up, as it did when the result was on its way
            del self._waiting[key], self._left[key]
            if not self._left:
                self._over.set()

    async def over(self) -> None:
        """Return when new work may be done: all is given out, or the script makes none of the rest.

        What came after the results comes after them again.
        """
        if self._left:
            with anyio.move_on_after(_STUCK_SECONDS):
                await self._over.wait()

    def release(self) -> bool:
        """Let the call go on that went on first; return whether there was one."""
        if not self._left:
            return False
        for key in self._left:
            turn = self._waiting.get(key)
            if turn is not None:
                turn.set()
                return True
        self._over.set()
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Where an earlier part of the run stood."""

    known: Mapping[str, Done] = field(default_factory=dict[str, Done])
    """Results by key, given out at once."""

    recorded: Recorded = field(default_factory=lambda: Recorded(()))
    seen: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many times each pair of tool and arguments was called."""

    answers: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    """By key, for calls that waited."""

    shown: Mapping[str, Files] = field(default_factory=dict[str, Files])
    """What calls that waited would change, by key, as it was when somebody was shown it."""

    for_the_run: Mapping[str, Answer] = field(default_factory=dict[str, Answer])
    """By rule."""

    waited: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of the calls that waited, by key."""

    unknown: Collection[str] = ()
    """Keys of calls that nobody knows the end of, and that may not be made again."""

    only: bool = False
    """A replay: a call that is not recorded ends it."""
