"""In which order a script of the small engine is told of what it waits for.

A run that nobody executes again is told of everything that is there. One that may be executed
again is told of one thing at a time, in the order in which they came; and a sleep that was over
before a call came is over before that call again, without being slept.
"""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, tzinfo
from typing import Protocol

from lineshaft.engines._desk import Postbox
from lineshaft.engines._reel import MOST, Reel
from lineshaft.engines._state import Progress
from lineshaft.values import Tape

_JUST = 1e-6
_Skip = Callable[[int], None]


class Order(Protocol):
    """Of one run."""

    def sleeps(self, key: int) -> None:
        """Note that the script begins to sleep."""
        ...

    def stands(self, keys: list[int]) -> list[int]:
        """Return those of the keys of which one is to be waited for."""
        ...

    def ready(self, keys: list[int]) -> Iterable[int]:
        """Return what the script is told now; at least one of the last `stands` has come."""
        ...

    def reads_clock(self, name: str, arguments: tuple[object, ...]) -> object:
        """Return what a function of the system says of the time; None: it is asked itself."""
        ...


class AsItComes:
    """Nobody executes the run again.

    Args:
        box: What came.
    """

    def __init__(self, box: Postbox) -> None:
        self._box = box

    def sleeps(self, key: int) -> None:
        """Do nothing."""

    def stands(self, keys: list[int]) -> list[int]:
        """Return all."""
        return keys

    def ready(self, keys: list[int]) -> Iterable[int]:
        """Return all that is there."""
        return [key for key in keys if key in self._box.results]

    def reads_clock(self, name: str, arguments: tuple[object, ...]) -> object:
        """Leave it to the engine."""
        del name, arguments


class AsBefore:
    """The run may be executed again.

    Args:
        tape: What an earlier execution read of clocks; takes what is read beyond that.
        progress: Keeps the clocks over a pause.
        box: What came.
        skip: Ends a sleep before its time.
    """

    def __init__(self, tape: Tape, progress: Progress, box: Postbox, skip: _Skip) -> None:
        self._tape = tape
        self._progress = progress
        self._box = box
        self._skip = skip
        self._reel = Reel(self._keep)
        self._reel.give(tape.clock, at=progress.taken)
        self._ahead = progress.moment - time.monotonic()
        self._first: int | None = None
        self._wanted: frozenset[int] = frozenset()

    def _keep(self, value: float) -> None:
        if len(self._tape.clock) < MOST:
            self._tape.clock.append(value)
        else:
            self._tape.torn = True

    def _take(self) -> float:
        self._progress.taken += 1
        return self._reel.take()

    def _put(self, value: float) -> float:
        self._reel.put(value)
        self._progress.taken = self._reel.at
        return value

    def _moment(self) -> float:
        return time.monotonic() + self._ahead

    def _at(self, moment: float) -> float:
        self._progress.moment = max(moment, self._progress.moment)
        self._ahead = self._progress.moment - time.monotonic()
        return moment

    def sleeps(self, key: int) -> None:
        """Note when a sleep will be over."""
        if self._reel.replays:
            self._at(self._take())
        else:
            self._at(self._put(self._moment()))
        self._progress.dues[key] = self._progress.moment + self._progress.sleeps[key]

    def stands(self, keys: list[int]) -> list[int]:
        """Return what may come next: as before, or whatever comes."""
        wanted = self._next(keys)
        self._wanted = frozenset(wanted)
        return wanted

    def _next(self, keys: list[int]) -> list[int]:
        progress = self._progress
        self._first = None
        asleep = [key for key in keys if key in progress.dues and key in progress.sleeps]
        if not asleep or any(key in progress.refused for key in keys):
            return keys
        first = min(asleep, key=progress.dues.__getitem__)
        if not self._reel.replays:
            self._first = first
            return keys
        if self._at(self._take()) >= progress.dues[first]:
            self._over(first)
            return [first]
        return [key for key in keys if key not in asleep] or keys

    def ready(self, keys: list[int]) -> Iterable[int]:
        """Return the one thing that comes next."""
        progress, results, wanted = self._progress, self._box.results, self._wanted
        came = next((key for key in keys if key in progress.refused), None)
        if came is None:
            came = next(key for key in results if key in wanted)
        if self._first is not None:
            due = progress.dues[self._first]
            if came in progress.dues:
                came = self._first
                self._over(came)
                self._at(self._put(max(self._moment(), due)))
            else:
                self._at(self._put(min(self._moment(), due - _JUST)))
        progress.dues.pop(came, None)
        return (came,)

    def _over(self, key: int) -> None:
        if key not in self._box.results:
            self._box.results[key] = None
            self._skip(key)

    def reads_clock(self, name: str, arguments: tuple[object, ...]) -> object:
        """Return the time of day, in the form that is asked for."""
        if name not in ("time.time", "datetime.now", "date.today"):
            return None
        if self._reel.replays:
            self._progress.day = self._take()
        else:
            self._progress.day = self._put(max(time.time(), self._progress.day))
        if name == "time.time":
            return self._progress.day
        zone = next((given for given in arguments if isinstance(given, tzinfo)), None)
        now = datetime.fromtimestamp(self._progress.day, zone or UTC)
        if name == "date.today":
            return now.date()
        return now if zone else now.replace(tzinfo=None)
