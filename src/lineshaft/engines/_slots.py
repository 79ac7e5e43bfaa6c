"""Who has a worker process, who waits for one, and who could do without for a while."""

import threading
from collections import deque
from typing import Protocol


class Seated(Protocol):
    """A run, as the one who hands out workers sees it."""

    def granted(self) -> None:
        """Learn that a worker is free for it."""
        ...

    def asked_to_park(self) -> None:
        """Learn that somebody needs the worker that it does not use right now."""
        ...


class Slots:
    """A number of workers, handed out in the order in which they were asked for.

    A run that waits for its calls gives its worker up when somebody else needs one: so a run
    never waits for a worker that is held by the run that it is nested in.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._starving: deque[Seated] = deque()
        self._idle: dict[Seated, None] = {}
        self._asked: set[Seated] = set()

    def ask(self, who: Seated) -> bool:
        """Take a worker; False: `granted` will be called."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return True
            self._starving.append(who)
            self._ask_one()
            return False

    def give_back(self, who: Seated) -> None:
        """Let somebody else have the worker."""
        with self._lock:
            self._forget(who)
            if self._starving:
                self._starving.popleft().granted()
            else:
                self._free += 1

    def withdraw(self, who: Seated) -> bool:
        """Ask no more; False: a worker had been granted already and must be given back."""
        with self._lock:
            if who in self._starving:
                self._starving.remove(who)
                return True
            return False

    def idles(self, who: Seated) -> None:
        """Note that a run only waits, and could give up its worker."""
        with self._lock:
            self._idle[who] = None
            if len(self._starving) > len(self._asked):
                self._ask_one()

    def works(self, who: Seated) -> None:
        """Note that a run uses its worker again."""
        with self._lock:
            if self._forget(who) and self._starving:
                self._ask_one()

    def _forget(self, who: Seated) -> bool:
        self._idle.pop(who, None)
        asked = who in self._asked
        self._asked.discard(who)
        return asked

    def _ask_one(self) -> None:
        who = next(iter(self._idle), None)
        if who is not None:
            del self._idle[who]
            self._asked.add(who)
            who.asked_to_park()
