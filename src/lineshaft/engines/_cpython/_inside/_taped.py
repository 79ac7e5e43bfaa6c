"""A run that may be executed again: all that comes to its script comes in an order that is known.

Answers reach the script's own thread one at a time, each only when it can do nothing else. At such
a moment a timer may be next instead; which of both it was is told by the reading that is kept of
it, so that no timer is waited for a second time.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import cast

from lineshaft.engines._cpython._inside._channel import Channel
from lineshaft.engines._cpython._inside._clocks import Clock, Clocks, Standins
from lineshaft.engines._cpython._inside._entropy import Entropy
from lineshaft.engines._cpython._inside._interpreter import calling_frame
from lineshaft.engines._cpython._inside._line import line
from lineshaft.engines._cpython._inside._parked import Ready, Selector
from lineshaft.engines._reel import Reel

_Awaited = Coroutine[object, object, object]
_JUST = 1e-6
_LOOP = asyncio.base_events.BaseEventLoop
_ONE_TURN = vars(_LOOP)["_run_once"].__code__


class Taping:
    """What an earlier execution of a script took, and what it takes beyond that.

    Nothing is different before `begin`.

    Args:
        channel: Told of what is taken.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._reel = Reel(channel.note)
        self._clocks = Clocks(self._reel)
        self._entropy = Entropy(self._clocks.day)
        self._standins = Standins()
        self._clocks.stand_in(self._standins)
        self._entropy.stand_in(self._standins)

    def begin(self, given: Mapping[str, object]) -> None:
        """Give it to the script from now on.

        Args:
            given: `seed` and `clock`.
        """
        channel, steady = self._channel, self._clocks.steady
        self._reel.give(cast("Sequence[float]", given["clock"]))
        self._entropy.begin(cast("str", given["seed"]))
        self._standins.step_in()
        _install_loop(steady)
        channel.one_by_one = True
        Selector.stand = _Stand(channel, self._reel, steady).turn


def _install_loop(steady: Clock) -> None:
    def moment(_loop: object) -> float:
        # A turn of the loop has the time of the last reading, else there would be two a turn.
        return steady.last if calling_frame().f_code is _ONE_TURN else steady.read()

    vars(asyncio.base_events)["BaseEventLoop"].time = moment
    tasks = asyncio.tasks
    asyncio.Task = tasks.Task = _Task  # pyright: ignore[reportAttributeAccessIssue]  is one
    real = cast("Callable[..., object]", tasks.as_completed)

    def as_completed(fs: object, *, timeout: float | None = None) -> object:
        if asyncio.isfuture(fs) or asyncio.iscoroutine(fs):
            return real(fs, timeout=timeout)  # which refuses it
        given = dict.fromkeys(cast("Iterable[_Awaited]", fs))
        return real([asyncio.ensure_future(each) for each in given], timeout=timeout)

    asyncio.as_completed = tasks.as_completed = as_completed  # pyright: ignore[reportAttributeAccessIssue]  does the same


class _Task(asyncio.Task[object]):
    """A task that stands in sets where its number says, not where its memory happens to be."""

    _numbers = itertools.count(1)

    def __init__(self, coro: object, *, name: str | None = None, **options: object) -> None:
        self._number = next(self._numbers)
        given = cast("_Awaited", coro)
        super().__init__(given, name=name or f"Task-{self._number}", **options)  # pyright: ignore[reportArgumentType]  as they come

    def __hash__(self) -> int:
        return self._number


_Task.__name__ = _Task.__qualname__ = "Task"


class _Stand:
    """What event loops of the script's own thread do when they have nothing to do.

    Args:
        channel: Where answers come from.
        reel: What was read before, and takes what is read now.
        steady: The clock of timers.
    """

    def __init__(self, channel: Channel, reel: Reel, steady: Clock) -> None:
        self._channel = channel
        self._reel = reel
        self._steady = steady

    def turn(self, selector: Selector, timeout: float | None) -> Ready:
        """Wait until something comes that the loop can go on with."""
        if not line.is_here:
            return selector.wait(timeout)
        if timeout is None:
            return self._waited(selector, None)[1]
        if timeout <= 0:
            return self._but_answers(selector.wait(0))
        steady = self._steady
        due = steady.last + timeout
        if self._reel.replays:
            if steady.set(self._reel.take()) >= due:
                return self._but_answers(selector.wait(0))
            return self._waited(selector, None)[1]  # however long it takes this time
        before = steady.last
        came, ready = self._waited(selector, timeout)
        now = steady.now()
        steady.put(max(before, min(now, due - _JUST)) if came else max(now, due))
        return ready

    def _waited(self, selector: Selector, timeout: float | None) -> tuple[bool, Ready]:
        """Wait for an answer or anything else; return whether there was something, and what."""
        until = None if timeout is None else self._steady.now() + timeout
        while True:
            if self._channel.take_one():
                return True, self._but_answers(selector.wait(0))
            left = None if until is None else max(until - self._steady.now(), 0)
            ready = selector.wait(left)
            others = self._but_answers(ready)
            if others or not ready or self._channel.has_reader:
                return bool(ready), others

    def _but_answers(self, ready: Ready) -> Ready:
        return [event for event in ready if event[0].fd != self._channel.fd]
