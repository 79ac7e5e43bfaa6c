"""The host's side of a run, in its event loop: starts calls, passes printed text on."""

import asyncio
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from enum import Enum, auto
from queue import SimpleQueue

from lineshaft.engines._again import Again
from lineshaft.values import Call, Dispatch, Done, Failure, Limits, Output, Program, Stream, Waiting

_OUTPUT_AT_ONCE = 256_000
"""Characters on their way to the loop before the script is held up."""

_FACTOR = 200
"""Printed text may be this many times as long as what is kept of it."""


class Signal(Enum):
    """What a run's thread is told beside results."""

    STOP = auto()
    SUSPEND = auto()
    PARK = auto()
    GRANT = auto()


@dataclass(frozen=True, slots=True)
class Settled:
    """A call that finished, or a sleep that is over."""

    key: int
    done: Done | None = None


class Stopped(Exception):
    """The run was cancelled: nothing more of its script may happen."""


class TooMuchOutput(Exception):
    """The script printed more than it may."""


class Postbox:
    """What a run's thread is told; results are kept until they are taken."""

    def __init__(self) -> None:
        self._queue = SimpleQueue[Settled | Signal]()
        self.results: dict[int, Done | None] = {}
        """By key; None: a sleep is over."""

    def put(self, message: Settled | Signal) -> None:
        """Any thread: tell something."""
        self._queue.put(message)

    def receive(self) -> Signal | None:
        """Wait for one message; None: it was a result.

        Raises:
            Stopped: The run was cancelled.
        """
        message = self._queue.get()
        if isinstance(message, Settled):
            self.results[message.key] = message.done
            return None
        if message is Signal.STOP:
            raise Stopped
        return message

    def sweep(self) -> None:
        """Take what is there; a request to park is void once the run goes on.

        Raises:
            Stopped: The run was cancelled.
        """
        while not self._queue.empty():
            self.receive()


class Desk:
    """Serves one run. Methods are for the event loop, except where they say "thread"."""

    def __init__(
        self, box: Postbox, dispatch: Dispatch, *, limits: Limits, output: Output, waiting: Waiting
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._box = box
        self._dispatch = dispatch
        self._output = output
        self._waiting = waiting
        self._room = {
            "stdout": limits.stdout_bytes * _FACTOR,
            "stderr": limits.stderr_bytes * _FACTOR,
        }
        self._context = copy_context()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ids: dict[int, str] = {}
        self._blocking: frozenset[int] = frozenset()
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._most_sleep = limits.seconds
        self.slept = 0.0
        """Seconds that the script slept."""

        self._asleep_since = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None
        # A call may come to wait for a person after it was started.
        self._again = Again(self._blocked)
        self._closed = False
        self._suspended = False
        self._suspending: asyncio.Task[None] | None = None
        self._printed: list[tuple[Stream, str]] = []
        self._queued = 0
        self._drained = threading.Condition()
        self.late: dict[int, Done] = {}
        """What came of calls that ended well although the run was being suspended."""

        self.failed: BaseException | None = None
        """What the host raised against its contract."""

        self.overslept = False
        """The script slept for longer than it may run."""

        self.exceeded: Stream | None = None
        """The stream that was flooded."""

    def post(self, what: Callable[..., None], *arguments: object) -> None:
        """Thread: do something in the loop, after all that was posted before."""
        try:
            self._loop.call_soon_threadsafe(what, *arguments, context=self._context)
        except RuntimeError:  # the loop was closed under the run
            raise Stopped from None

    def say(self, stream: Stream, text: str) -> None:
        """Thread: pass printed text on; waits while too much is under way.

        Raises:
            TooMuchOutput: The script printed more than it may.
        """
        self._room[stream] -= len(text.encode("utf-8", "replace"))
        if self._room[stream] < 0:
            self.exceeded = stream
            raise TooMuchOutput(stream)
        with self._drained:
            self._printed.append((stream, text))
            self._queued += len(text)
            if len(self._printed) == 1:
                self.post(self._drain)
            while self._queued > _OUTPUT_AT_ONCE and not self._closed:
                self._drained.wait()

    def _drain(self) -> None:
        with self._drained:
            printed, self._printed = self._printed, []
            self._queued = 0
            self._drained.notify_all()
        try:
            for stream, text in printed:
                self._output(stream, text)
        except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """End the run: the host broke the contract."""
        self.failed = self.failed or error
        self._box.put(Signal.STOP)

    def serve(
        self, calls: Mapping[int, Call], sleeps: Mapping[int, float], blocking: Collection[int]
    ) -> None:
        """Start what a script waits for.

        Args:
            calls: To be dispatched, in their order, by their keys.
            sleeps: Seconds, by their keys.
            blocking: Keys of the calls and sleeps without one of which it cannot go on.
        """
        if self._closed or self._suspended:
            return
        self._blocking = frozenset(blocking)
        for key, call in calls.items():
            self._ids[key] = call.id
            self._tasks[key] = self._loop.create_task(self._make(key, call))
        for key, seconds in sleeps.items():
            self._timers[key] = self._loop.call_later(max(seconds, 0), self._wake, key)
        self._clock_sleep()
        self._ask_soon()  # after the first step of each call

    async def _make(self, key: int, call: Call) -> None:
        try:
            done = await self._dispatch(call)
        except asyncio.CancelledError:
            if self._closed or self._suspended:
                raise
            done = Failure("E_TOOL_FAILED", f"{call.tool} was cancelled", status="cancelled")
        except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
            self._fail(error)
            return
        del self._tasks[key], self._ids[key]
        if self._suspended:
            self.late[key] = done
            return
        self._box.put(Settled(key, done))
        if key not in self._blocking:
            self._ask_soon()

    def _wake(self, key: int) -> None:
        del self._timers[key]
        self._clock_sleep()
        self._box.put(Settled(key))

    def skip(self, key: int) -> None:
        """Let a sleep be over for somebody who knows that already."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
            self._clock_sleep()

    def _clock_sleep(self) -> None:
        """Count the time in which the script sleeps, however many sleeps there are at once."""
        if not self._timers and self._alarm is None:
            return
        now = self._loop.time()
        if self._timers and self._alarm is None:
            self._asleep_since = now
            left = max(self._most_sleep - self.slept, 0)
            self._alarm = self._loop.call_later(left, self._overslept)
        elif not self._timers and self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
            self.slept += now - self._asleep_since

    def _overslept(self) -> None:
        self.overslept = True
        self._box.put(Signal.STOP)

    def _ask_soon(self) -> None:
        self._again.not_now()
        if self._soon is not None:
            self._soon.cancel()
        self._soon = self._loop.call_soon(self._blocked)

    def _blocked(self) -> None:
        """Ask whether to go on waiting, when the script can only wait for calls."""
        under_way = bool(self._blocking) and self._blocking <= self._tasks.keys()
        if self._closed or self._suspended or not under_way:
            return  # something has come, or will by itself
        try:
            says = self._waiting(tuple(self._ids.values()))
        except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
            self._fail(error)
            return
        if says == "suspend":
            self._suspended = True
            self._suspending = self._loop.create_task(self._suspend())
            return
        self._again.later()

    async def _suspend(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await finished(tasks)
        self._box.put(Signal.SUSPEND)

    def stop(self) -> None:
        """Let no further call begin, and hold up no printing thread."""
        for timer in (self._alarm, self._soon, *self._timers.values()):
            if timer is not None:
                timer.cancel()
        self._again.close()
        with self._drained:
            self._closed = True
            self._drained.notify_all()
        for task in self._tasks.values():
            if not task.cancelling():  # a second cancellation would break into its cleaning up
                task.cancel()

    @property
    def unfinished(self) -> "Collection[asyncio.Task[None]]":
        """What was stopped and has not ended yet."""
        tasks = [*self._tasks.values()]
        return tasks if self._suspending is None else [*tasks, self._suspending]


async def finished(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Wait for tasks to end; a cancellation of the waiting task is raised only then."""
    left: list[asyncio.Task[None]] = list(tasks)
    cancelled: asyncio.CancelledError | None = None
    while left:
        try:
            await asyncio.wait(left)
        except asyncio.CancelledError as error:
            cancelled = error
        left = [task for task in left if not task.done()]
    if cancelled is not None:
        raise cancelled


@dataclass(frozen=True, slots=True)
class Job:
    """A run to be started."""

    program: Program
    desk: Desk
    box: Postbox
    limits: Limits
    resume: bytes | None
