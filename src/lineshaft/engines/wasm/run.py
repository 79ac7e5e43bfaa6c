"""Run of one script in one instance, as the event loop sees it.

Above: the engine. Below: the instance's thread, which posts callbacks here and reads its inbox. A
    call costs one callback and one item.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lineshaft.engines.host.protocol import RunEnded, broken, read_result
from lineshaft.engines.host.scheduler import CallScheduler
from lineshaft.engines.host.server import SHORTEST
from lineshaft.engines.host.turns import Begun
from lineshaft.engines.wasm.host import Drained, GuestHost, ModuleFound, Past, Stop, TimePassed
from lineshaft.engines.wasm.library import Library
from lineshaft.sandbox.webassembly import GuestStopped, GuestTooLarge, GuestTrapped
from lineshaft.tasks import wait_until_done
from lineshaft.values import (
    Crashed,
    Dispatch,
    Done,
    Exceeded,
    Limits,
    Outcome,
    Output,
    Program,
    Raised,
    Stream,
    Suspended,
    Waiting,
)

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly import Instance  # its parts take time to import

_DRAIN_SECONDS = 0.05
"""Between two looks at printed text."""

_END_SECONDS = 10.0
"""For a stopped guest to end; after that its thread is left to itself."""

_log = logging.getLogger(__name__)


class WasmRun:
    """A script in an instance.

    Args:
        instance: A fresh one.
        program: The script.
        dispatch: Makes its calls.
        limits: Its limits.
        output: Takes its output.
        waiting: Asked while it can only wait.
        packages: Returns the packages that it may import; None: it may not.
    """

    def __init__(
        self,
        instance: "Instance",
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
        packages: Callable[[], Library] | None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._instance = instance
        self._program = program
        self._limits = limits
        self._output = output
        self._host = GuestHost(program, limits=limits, run=self, packages=packages)
        self._calls = CallScheduler(
            dispatch,
            waiting,
            completed=self._complete,
            suspend=lambda: self._end(Suspended()),
            failed=self._fail,
        )
        self._outcome: asyncio.Future[Outcome] = self._loop.create_future()
        self._thread_over: asyncio.Future[None] = self._loop.create_future()
        self._told = 0
        """Completions that the thread received."""

        self._unseen: deque[int] = deque()
        """The last of them: calls whose ends the thread had not read when it began its turn."""

        self._withdrawn: set[int] = set()
        """Those of them that the script had withdrawn when it last withdrew any."""

        self._stopped = False
        self._finding: asyncio.Task[None] | None = None
        self._drain: asyncio.TimerHandle | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._clock = program.clock or time.monotonic
        self._began = self._clock()

    async def execute(self, order: str) -> Outcome:
        """Return the script's outcome; nothing of the script runs when this returns or raises.

        Args:
            order: To the guest.
        """
        memory_mb, done = self._limits.memory_mb, self._guest_ended
        self._instance.start(order, self._host, memory_mb=memory_mb, done=done)
        self._alarm = self._loop.call_later(self._limits.seconds, self._look)
        try:
            outcome = await self._outcome
        except GeneratorExit:  # the event loop is gone
            self.stop()
            raise
        except BaseException:
            await self._close()
            raise
        await self._close()
        return outcome

    def stop(self) -> None:
        """End the guest, and ignore later messages of it."""
        if self._stopped:
            return
        self._stopped = True
        self._instance.stop()
        self._host.inbox.put(Stop())
        for timer in (self._alarm, self._drain, self._timer):
            if timer is not None:
                timer.cancel()
        if self._finding is not None:
            self._finding.cancel()
        self._calls.stop()

    def take_turn(self, begun: Begun, seen: int, turn: int, past: Past | None) -> None:
        """Carry out the requests of a turn.

        Args:
            begun: The turn.
            seen: Completions that the guest's thread knew of when it asked.
            turn: Its number.
            past: The ends of the turns before it, and their readings, as far as they are new.
        """
        if self._stopped:
            return
        self._stop_timer()
        self._pass_on()
        replay = self._program.replay
        if past is not None and replay is not None and replay.passed is not None:
            replay.passed(*past)
        self._calls.start(begun.calls)
        self._calls.cancel(begun.cancels)
        while len(self._unseen) > self._told - seen:
            self._unseen.popleft()
        if begun.cancels:
            self._withdrawn = self._withdrawn.union(begun.cancels).intersection(self._unseen)
        # An end that is still to be read ends the turn, unless the script withdrew the call.
        if begun.blocked and self._withdrawn.issuperset(self._unseen):
            self._calls.block()
            if begun.seconds is not None:
                due = self._clock() + begun.seconds
                self._timer = self._loop.call_later(begun.seconds, self._ring, due, turn)

    def _ring(self, due: float, turn: int) -> None:
        """Check whether the time of a turn has passed on the run's clock."""
        left = due - self._clock()
        if left > 0:  # the clock stood still, or runs more slowly
            self._timer = self._loop.call_later(max(left, SHORTEST), self._ring, due, turn)
        else:
            self._timer = None
            self._calls.unblock()
            self._host.inbox.put(TimePassed(turn))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def take_output(self) -> None:
        """Pass printed text on, now and for as long as there is more."""
        if not self._stopped:
            self._pass_on()
            self._drain = self._loop.call_later(_DRAIN_SECONDS, self._drain_again)

    def empty_output(self) -> None:
        """Pass printed text on, and tell the thread."""
        if not self._stopped:
            self._pass_on()
            self._host.inbox.put(Drained())

    def find_module(self, name: str) -> None:
        """Find a module of the workspace, and tell the thread."""
        if not self._stopped:
            self._finding = self._loop.create_task(self._find(name))

    async def _find(self, name: str) -> None:
        source = self._program.workspace_module
        try:
            found = None if source is None else await source(name)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  the thread decides on it
            self._host.inbox.put(ModuleFound(error))
        else:
            self._host.inbox.put(ModuleFound(found))

    def _drain_again(self) -> None:
        if self._host.printed:
            self.take_output()
            return
        self._host.draining = False
        if self._host.printed:  # since the first look
            self._host.draining = True
            self.take_output()

    def _pass_on(self) -> None:
        printed = self._host.printed
        while printed:
            stream, text = printed.popleft()
            if printed and printed[0][0] == stream:
                text += "".join(_more_of(stream, printed))
            self._host.taken += len(text)
            try:
                self._output(stream, text)
            except Exception as error:  # noqa: BLE001  it is raised where the run is awaited
                self._fail(error)
                return

    def _complete(self, number: int, done: Done) -> None:
        if self._calls.completions != self._told:  # a call that was withdrawn ends no turn
            self._told = self._calls.completions
            self._unseen.append(number)
            self._stop_timer()
        self._host.inbox.put((number, done, self._told))

    def _end(self, outcome: Outcome) -> None:
        """Set the outcome; the first one counts, and nothing goes on after it."""
        if not self._outcome.done():
            self._outcome.set_result(outcome)
            self.stop()

    def _fail(self, error: BaseException) -> None:
        if not self._outcome.done():
            self._outcome.set_exception(error)
            self.stop()

    def _guest_ended(self, result: str | BaseException) -> None:
        """Take the guest's last word, in its thread."""
        try:
            judged = self._judge(result)
        except BaseException as error:  # noqa: BLE001  nothing may be raised in the guest's thread
            judged = error
        try:
            self._loop.call_soon_threadsafe(self._over, judged)
        except RuntimeError:  # the event loop is gone, and with it the waiter
            return

    def _judge(self, result: str | BaseException) -> Outcome | BaseException:
        match result:
            case str():
                self._host.order.finished()
                self._host.clocks.finished()
                return read_result(result)
            case GuestStopped(cause=RunEnded() as ended):
                return ended.outcome
            case GuestStopped(cause=None | Stop()):
                return Crashed(message="the script was stopped")
            case GuestStopped(cause=GuestTooLarge()):
                return broken("more in one piece than can cross").outcome
            case GuestStopped(cause=BaseException() as cause):
                return cause
            case GuestTrapped():
                return _trapped(result, self._limits)
            case _:
                return result

    def _over(self, judged: Outcome | BaseException) -> None:
        self._thread_over.set_result(None)
        if self._stopped:
            return
        if isinstance(judged, RunEnded):
            judged = judged.outcome
        if isinstance(judged, BaseException):
            self._fail(judged)
        else:
            self._pass_on()
            self._end(judged)

    def _look(self) -> None:
        """Check whether the script has computed or slept for too long."""
        since = self._host.idle_since
        idle = self._host.idle + (0 if since is None else self._clock() - since)
        left = self._limits.seconds - (self._clock() - self._began - idle)
        if left > 0:
            self._alarm = self._loop.call_later(max(left, SHORTEST), self._look)
        else:
            message = f"the script ran for more than {self._limits.seconds:g} s"
            self._end(Exceeded(limit="seconds", message=message))

    async def _close(self) -> None:
        """Return when nothing of the run is left; a cancel comes through after that."""
        self.stop()
        left: set[asyncio.Future[None]] = set(self._calls.unfinished)
        if self._finding is not None:
            left.add(self._finding)
        try:
            await wait_until_done(left)
        finally:
            try:
                await wait_until_done((self._thread_over,), _END_SECONDS)
            finally:
                if not self._thread_over.done():
                    _log.warning("an instance did not end when it was stopped: left to itself")
                self._host.clocks.store()


def _more_of(stream: Stream, printed: deque[tuple[Stream, str]]) -> Iterator[str]:
    """Take the pieces of a stream that come next."""
    while printed and printed[0][0] == stream:
        yield printed.popleft()[1]


def _trapped(trapped: GuestTrapped, limits: Limits) -> Outcome:
    match trapped.kind:
        case "memory":
            message = f"the script used more than {limits.memory_mb} MB of memory"
            return Exceeded(limit="memory_mb", message=message)
        case "stack":
            return Exceeded(limit="recursion", message=trapped.message)
        case "deadlock":
            return Raised(kind="RuntimeError", message=trapped.message)
        case "trap":
            said = f": {trapped.last_words.strip()}" if trapped.last_words.strip() else ""
            return Crashed(message=f"{trapped.message}{said}")
