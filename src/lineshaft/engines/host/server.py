"""Server of a guest's turns, for a guest whose messages arrive in the event loop."""

import asyncio
import time
from collections.abc import Callable

from lineshaft.engines.host.protocol import RunEnded, read_result
from lineshaft.engines.host.scheduler import CallScheduler
from lineshaft.engines.host.turns import Begun, TurnOrder
from lineshaft.values import Dispatch, Done, Limits, Outcome, ReplayInputs, Suspended, Waiting

CALLS_FACTOR = 4
"""The gate refuses calls beyond the limit, and ends the run after three times as many more."""

CALLS_MORE = 1_000

SHORTEST = 0.02
"""Seconds after which a clock that stands still is looked at again, at least."""


def most_calls(limits: Limits) -> int:
    """Return the most calls that a guest may make, refused ones included."""
    return limits.calls * CALLS_FACTOR + CALLS_MORE


class TurnServer:
    """Answers the turns of one run.

    Args:
        dispatch: Makes a call.
        waiting: Asked while the script only waits.
        replay: The run's record.
        limits: The script's limits.
        clock: Seconds of the run; None: those of `time.monotonic`.
        answer: Sends the answer to the open turn.
        end: Takes the outcome of the run, where it is decided here.
        failed: Takes an exception that `dispatch` or `waiting` raised against its contract.
        live: Called at the first turn that is not in the record.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        waiting: Waiting,
        *,
        replay: ReplayInputs | None,
        limits: Limits,
        clock: Callable[[], float] | None,
        answer: Callable[[str], None],
        end: Callable[[Outcome], None],
        failed: Callable[[BaseException], None],
        live: Callable[[], None] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._order = TurnOrder(
            replay, most_calls=most_calls(limits), most_bytes=limits.memory_mb * 1_000_000
        )
        self._calls = CallScheduler(
            dispatch,
            waiting,
            completed=self._take,
            suspend=lambda: end(Suspended()),
            failed=failed,
        )
        self._clock = clock or time.monotonic
        self._answer = answer
        self._end = end
        self._live = live
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self.idle = False
        """The script can only wait for a completion."""

    def turn(self, seconds: float, requests: str) -> None:
        """Take a turn of the guest; it is answered now or later.

        Args:
            seconds: Until it is over without a completion; negative or infinite: never.
            requests: The guest's requests with it.
        """
        try:
            begun = self._order.begin(seconds, requests)
            if begun.live and self._live is not None:
                self._live()
        except RunEnded as ended:
            self._end(ended.outcome)
            return
        self._calls.start(begun.calls)
        self._calls.cancel(begun.cancels)
        if begun.answer is not None:
            self._answer(begun.answer)
        else:
            self._wait(begun)

    def finish(self, result: str) -> Outcome:
        """Return the outcome of the run from its guest's last message.

        Args:
            result: That message.
        """
        try:
            self._order.finished()
        except RunEnded as ended:
            return ended.outcome
        return read_result(result)

    async def aclose(self) -> None:
        """Cancel the calls under way and wait until they have ended."""
        self._stop_timer()
        await self._calls.aclose()

    def _wait(self, begun: Begun) -> None:
        self.idle = begun.seconds is None
        if begun.blocked:
            self._calls.block()
        if begun.seconds is not None:
            self._due = self._clock() + begun.seconds
            self._timer = self._loop.call_later(begun.seconds, self._ring)

    def _ring(self) -> None:
        left = self._due - self._clock()
        if left > 0:  # the clock stood still, or runs more slowly
            self._timer = self._loop.call_later(max(left, SHORTEST), self._ring)
        else:
            self._timer = None
            self._calls.unblock()
            self._answer(self._order.passed())

    def _take(self, number: int, done: Done) -> None:
        try:
            answer = self._order.completed(number, done)
        except RunEnded as ended:
            self._end(ended.outcome)
            return
        if answer is not None:
            self.idle = False
            self._stop_timer()
            self._answer(answer)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
