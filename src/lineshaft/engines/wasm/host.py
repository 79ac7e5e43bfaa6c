"""Host functions of one run, which a guest calls in its own thread.

Above: the guest, which is trusted no more than its script. Below: the run's event loop, reached by
`post`, which answers by way of `inbox`. An exception of these functions ends the guest, and nothing
of the script runs after that.
"""

import asyncio
import atexit
import json
import secrets
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Protocol, cast

from lineshaft.engines.host.clocks import Clocks
from lineshaft.engines.host.modules import NONE, found_source
from lineshaft.engines.host.output import OutputMeter
from lineshaft.engines.host.protocol import RunEnded, broken
from lineshaft.engines.host.readings import RandomStream
from lineshaft.engines.host.server import SHORTEST, most_calls
from lineshaft.engines.host.turns import Begun, TurnOrder
from lineshaft.engines.wasm.library import GuestAnswer, Library
from lineshaft.errors import PythonNotFound, ToolError
from lineshaft.values import Crashed, Done, Limits, ModuleText, Program, Stream

_LOOK = 5.0
"""Seconds after which a waiting thread checks that its event loop is still there."""

_LARGE = 100_000
"""Characters of requests from which on they count as held."""

_HELD = 32_000_000
"""Characters of requests whose calls are under way at most; more wait until some have ended."""

_UNREAD = 1_000_000
"""Characters of printed text that the event loop has not taken, at most."""

_REQUEST = 10_000
"""Characters of a request for a package's file at most."""


class Stop(BaseException):
    """The run was ended from outside; it ends the guest."""


class Drained:
    """News that all printed text was taken."""


class TimePassed:
    """News that the time of a turn has passed.

    Args:
        turn: The number of the turn.
    """

    def __init__(self, turn: int) -> None:
        self.turn = turn


class ModuleFound:
    """A module of the workspace, or why there is none.

    Args:
        found: Its text; None: there is none; or the reason.
    """

    def __init__(self, found: "ModuleText | BaseException | None") -> None:
        self.found = found


Item = tuple[int, Done, int] | Stop | Drained | TimePassed | ModuleFound
"""A message of the event loop to the thread: a call's number, its completion and the number of
completions so far; or news."""


Past = tuple[list[int], bytes]
"""The ends of turns, and the readings of clocks until the next one began."""


class Loop(Protocol):
    """The run in its event loop; each is called there, by `call_soon_threadsafe`."""

    def take_turn(self, begun: Begun, seen: int, turn: int, past: Past | None) -> None:
        """Carry out the requests of a turn."""
        ...

    def take_output(self) -> None:
        """Pass printed text on."""
        ...

    def empty_output(self) -> None:
        """Pass printed text on, and tell the thread."""
        ...

    def find_module(self, name: str) -> None:
        """Find a module of the workspace, and tell the thread."""
        ...


class GuestHost:
    """The functions that the guest of one run may call.

    Args:
        program: The program that the guest executes.
        limits: Its limits.
        run: The run in its event loop.
        packages: Returns the packages that it may import; None: it may not.
    """

    def __init__(
        self,
        program: Program,
        *,
        limits: Limits,
        run: Loop,
        packages: Callable[[], Library] | None,
    ) -> None:
        self.inbox: SimpleQueue[Item] = SimpleQueue()
        """Messages of the event loop to this thread."""

        self.printed: deque[tuple[Stream, str]] = deque()
        """Output that was not taken yet."""

        self.taken = 0
        """Characters of printed text that the event loop has taken; written there."""

        self.draining = False
        """The event loop looks at `printed` unasked, until it says otherwise."""

        self.idle_since: float | None = None
        """Time on the run's clock since which the script can only wait."""

        self.idle = 0.0
        """Seconds of such waiting before that."""

        self.order = TurnOrder(
            program.replay, most_calls=most_calls(limits), most_bytes=limits.memory_mb * 1_000_000
        )
        self.clocks = Clocks(program.replay, program.clock)
        self._clock = program.clock or time.monotonic
        self._loop = asyncio.get_running_loop()
        self._run = run
        self._meter = OutputMeter(limits)
        self._packages = packages
        self._workspace = program.workspace_module is not None
        self._replay = replay = program.replay
        self._turns = len(replay.turns) if replay is not None else 0
        """Turns that the record has."""

        self._random = RandomStream(replay.seed if replay is not None else secrets.token_hex(32))
        self._seen = 0
        """Completions that came out of the inbox."""

        self._turn = 0
        """The number of the turn."""

        self._module: ModuleFound | None = None
        self._written = 0
        self._held: dict[int, int] = {}
        """Characters of large requests, by calls that are under way."""

        _LIVE.add(self)

    def turn(self, seconds: float, requests: str) -> str:
        """Wait for the end of a turn of the script's event loop; return its answer."""
        while not self.inbox.empty():
            self._accept(self.inbox.get())
        turns = len(self._replay.turns) if self._replay is not None else 0
        begun = self.order.begin(seconds, requests)
        if begun.live:
            self.clocks.live()
        answer = begun.answer
        if begun.calls and len(requests) > _LARGE:
            answer = self._hold(begun, len(requests)) or answer
        self._turn += 1
        if begun.calls or begun.cancels or begun.blocked:
            self._post(self._run.take_turn, begun, self._seen, self._turn, self._passed(turns))
        if answer is not None:
            return answer
        # The event loop keeps the time of a turn that it may also suspend: one of both comes first.
        return self._wait(None if begun.blocked else begun.seconds)

    def _passed(self, turns: int) -> Past | None:
        """Return the ends and readings before this turn that the record lacks.

        Args:
            turns: Number of turns that had ended when this one began.
        """
        if self._replay is None or self._replay.torn:
            return None
        ended, self._turns = self._replay.turns[self._turns : turns], turns
        readings = self.clocks.fresh()
        return (ended, readings) if ended or readings else None

    def write(self, name: str, text: str) -> None:
        """Take printed text."""
        stream = self._meter.count(name, text)
        if not text:
            return
        self.printed.append((stream, text))
        self._written += len(text)
        if not self.draining:
            self.draining = True
            self._post(self._run.take_output)
        if self._written - self.taken > _UNREAD:
            self._post(self._run.empty_output)
            while self._written - self.taken > _UNREAD:
                self._accept(self._next(_LOOK))

    def package(self, request: str) -> str:
        """Answer a request for a module or a file of a package."""
        if len(request) > _REQUEST:
            raise broken("a request for a package's file that is too long")
        try:
            asked: object = json.loads(request)
        except (ValueError, RecursionError):
            raise broken("a request for a package's file that is not JSON") from None
        match asked:
            case {"workspace": str() as name} if self._workspace:
                return json.dumps(self._workspace_module(name))
            case dict() if self._packages is not None:
                return json.dumps(_packaged(self._packages, cast("dict[str, object]", asked)))
            case _:
                return json.dumps(NONE)

    def monotonic(self) -> int:
        """Return nanoseconds that only grow."""
        return self.clocks.monotonic()

    def wall(self) -> int:
        """Return nanoseconds since the epoch."""
        return self.clocks.wall()

    def random(self, count: int) -> bytes:
        """Return the next random bytes of the run."""
        return self._random.take(count)

    def _wait(self, seconds: float | None) -> str:
        due = None if seconds is None else self._clock() + seconds
        if due is None:
            self.idle_since = self._clock()
        pause = _LOOK if seconds is None else min(seconds, _LOOK)
        while True:
            item = self._next(pause)
            answer = None if item is None else self._accept(item)
            if answer is not None:
                break
            if due is not None:
                left = due - self._clock()
                if left <= 0:
                    answer = self.order.passed()
                    break
                pause = min(max(left, SHORTEST if item is None else 0), _LOOK)
        if self.idle_since is not None:
            since, self.idle_since = self.idle_since, None
            self.idle += self._clock() - since
        return answer

    def _hold(self, begun: Begun, size: int) -> str | None:
        """Wait while too much is under way; return the answer if the turn ends thereby."""
        answer: str | None = None
        while sum(self._held.values()) > _HELD:
            item = self._next(_LOOK)
            answer = answer or (None if item is None else self._accept(item))
        for call in begun.calls:
            self._held[int(call.id)] = size // len(begun.calls)
        return answer

    def _next(self, seconds: float) -> Item | None:
        try:
            return self.inbox.get(timeout=seconds)
        except Empty:
            if self._loop.is_closed():
                raise _loop_closed() from None
            return None

    def _accept(self, item: Item | None) -> str | None:
        match item:
            case (number, done, seen):
                self._seen = seen
                self._held.pop(number, None)
                return self.order.completed(number, done)
            case Stop():
                raise item
            case TimePassed() if item.turn == self._turn and self.order.is_open:
                return self.order.passed()
            case ModuleFound():
                self._module = item
                return None
            case _:
                return None

    def _workspace_module(self, name: str) -> GuestAnswer:
        self._post(self._run.find_module, name)
        while self._module is None:
            self._accept(self._next(_LOOK))
        found, self._module = self._module.found, None
        if isinstance(found, ToolError):
            return {**NONE, "error": f"{found.message} ({found.code})"}
        if isinstance(found, BaseException):
            raise found
        return found_source(found)

    def _post(self, function: Callable[..., None], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            raise _loop_closed() from None


_LIVE: "weakref.WeakSet[GuestHost]" = weakref.WeakSet()


def _end_all() -> None:
    """Wake waiting threads when the process ends: a thread must not be cut inside a guest."""
    for host in list(_LIVE):
        host.inbox.put(Stop())


atexit.register(_end_all)


def _packaged(packages: Callable[[], Library], asked: Mapping[str, object]) -> GuestAnswer:
    try:
        library = packages()
    except PythonNotFound as error:
        return {**NONE, "error": error.message}
    return library.answer(asked)


def _loop_closed() -> RunEnded:
    return RunEnded(Crashed(message="the event loop of the run was closed"))
