"""Turns of a script's event loop: the completion that ends each, recorded or played back.

Above: the engines, from a thread or from an event loop. Below: the wire's messages. This file has
no thread, task or clock; an object of it belongs to one owner at a time.
"""

from collections.abc import Collection, Sequence

from lineshaft.engines.host.protocol import (
    MESSAGE_BYTES,
    PART,
    PASSED,
    TURN_BYTES,
    Request,
    Requested,
    RequestPart,
    Rest,
    RunEnded,
    Slept,
    Withdrawn,
    bounded_seconds,
    broken,
    completion_text,
    part_text,
    read_requests,
)
from lineshaft.values import Call, Diverged, Done, Exceeded, Raised, ReplayInputs, Struct

MOST_TURNS = 2_000_000
"""Turns that are kept of a run; one that takes more cannot be executed again."""

_LEAST_PIECE = 100_000
"""Characters of a piece after which more come: each costs the host a turn."""


class Begun(Struct, kw_only=True):
    """The requests of a turn to its host."""

    calls: tuple[Call, ...] = ()
    """To dispatch, in order."""

    cancels: tuple[int, ...] = ()
    """Calls to cancel, after those were dispatched."""

    answer: str | None = None
    """None: the turn is open."""

    seconds: float | None = None
    """Until the time of the open turn has passed; None: no time ends it."""

    blocked: bool = False
    """The script can only wait for a completion, or for a time that stands still while only
    approvals are awaited."""

    live: bool = False
    """The first turn that is not in the record."""


class TurnOrder:
    """The turns of one run.

    While the record has turns left, each ends as it did before; after that by the first completion
    that is there, which is recorded.

    Args:
        replay: The record; None: none is kept.
        most_calls: More of them end the run.
        most_bytes: Calls under way whose arguments have more bytes than that end the run.
    """

    def __init__(self, replay: ReplayInputs | None, *, most_calls: int, most_bytes: int) -> None:
        self._replay = replay
        self._past = list(replay.turns) if replay is not None else []
        self._resumed = replay is not None and bool(replay.turns or replay.readings)
        self._at = 0
        self._live = False
        self._most_calls = most_calls
        self._last_call = 0
        self._under_way: dict[int, int] = {}
        """About how many bytes the arguments of each call have."""

        self._most_bytes = most_bytes
        self._held = 0
        self._ready: dict[int, Done] = {}
        """Completions that were not given yet, in the order in which they came."""

        self._open = False
        self._sleeps = False
        """Only time ends the open turn."""

        self._requests: list[str] = []
        """Pieces of requests that are not complete."""

        self._gathered = 0
        """How many characters they have."""

        self._rest: list[str] = []
        """Pieces of an answer that the guest has not fetched, the next one last."""

    @property
    def playing(self) -> bool:
        """Whether the record has turns left."""
        return self._at < len(self._past)

    @property
    def is_open(self) -> bool:
        """Whether a turn has begun and is not answered."""
        return self._open

    @property
    def open(self) -> Collection[int]:
        """Calls under way."""
        return self._under_way.keys()

    def begin(self, seconds: float, requests: str) -> Begun:
        """Begin a turn.

        Args:
            seconds: Until it is over without a completion; negative or infinite: never.
            requests: The guest's requests with it.

        Raises:
            RunEnded: The guest does not keep the protocol, the script departs from its record, has
                made too many calls, or nothing can end the turn.
        """
        if self._open:
            raise broken("a turn inside a turn")
        size = self._gathered + len(requests)
        found = self._gather(requests)
        if isinstance(found, Begun):
            return found
        asked = [request for request in found if isinstance(request, Requested)]
        sleeps, dropped = (False, ()) if len(asked) == len(found) else _beside(found)
        recorded = not self._live
        live = recorded and not self.playing
        cancels = self._register(asked, dropped, size)
        self._live = self._live or live
        self._open, self._sleeps, self._rest = True, sleeps, []
        left = bounded_seconds(seconds)
        answer = self._played(left) if self.playing else self._answered(left)
        if answer is None and self.playing:
            left = None
        calls = tuple(_call(request, recorded=recorded and self._resumed) for request in asked)
        return Begun(
            calls=calls,
            cancels=tuple(cancels),
            answer=answer,
            seconds=left,
            blocked=answer is None and not (self.playing or sleeps) and bool(self._under_way),
            live=live,
        )

    def completed(self, call: int, done: Done) -> str | None:
        """Take the completion of a call; return the answer to the open turn if this ends it."""
        if call not in self._under_way:
            return None
        self._let_go(call)
        self._ready[call] = done
        if not self._open or self._sleeps:
            return None
        if self.playing and self._past[self._at] != call:
            return None
        return self._give(call)

    def passed(self) -> str:
        """End the open turn because its time is over; return its answer."""
        self._close(0)
        return PASSED

    def finished(self) -> None:
        """Note that the script has ended.

        Raises:
            RunEnded: Its record goes on.
        """
        if self.playing:
            raise _diverged("the script ended before its record does")

    def _gather(self, requests: str) -> list[Request] | Begun:
        """Return the requests of a turn, or the answer to a turn that only carries a piece."""
        found = read_requests(requests)
        match found:
            case [Requested(), *_] | [] if not self._requests:
                return found
            case [RequestPart(text, more)]:
                self._requests.append(text)
                self._gathered += len(text)
                if self._gathered > MESSAGE_BYTES:
                    raise broken(f"requests of more than {MESSAGE_BYTES:,} bytes")
                if more:
                    if len(text) < _LEAST_PIECE:
                        raise broken(f"a piece of fewer than {_LEAST_PIECE:,} characters")
                    return Begun(answer=PASSED)
                text, self._requests, self._gathered = "".join(self._requests), [], 0
                return read_requests(text)
            case [Rest()]:
                if not self._rest:
                    raise broken("a request for the rest of an answer that has none")
                return Begun(answer=self._next_part())
            case _:
                if self._requests:
                    raise broken("requests that are not complete")
                return found

    def _register(self, asked: Sequence[Requested], dropped: Sequence[int], size: int) -> list[int]:
        """Take calls as under way and others as dropped; return those to cancel."""
        for request in asked:
            if request.id != self._last_call + 1:
                raise broken("a call whose number is not the next")
            if request.id > self._most_calls:
                message = f"the script made more than {self._most_calls:,} calls"
                raise RunEnded(Exceeded(limit="calls", message=message))
            self._last_call = request.id
            self._under_way[request.id] = size // len(asked)
            self._held += size // len(asked)
        cancels: list[int] = []
        for number in dropped:
            if not 0 < number <= self._last_call:
                raise broken("the end of a call that was not made")
            self._ready.pop(number, None)
            if number in self._under_way:
                self._let_go(number)
                cancels.append(number)
        if self._held > self._most_bytes:
            message = (
                f"calls under way hold more than {self._most_bytes:,} bytes of arguments:"
                " await some of them before making more"
            )
            raise RunEnded(Exceeded(limit="memory_mb", message=message))
        return cancels

    def _let_go(self, call: int) -> None:
        self._held -= self._under_way.pop(call)

    def _played(self, left: float | None) -> str | None:
        """Return the record's answer; None: its call has not ended yet."""
        number = self._past[self._at]
        if number == 0:
            if left is None:
                raise _diverged("the script waits for a call where it went on in its record")
            return self.passed()
        if self._sleeps or not (number in self._under_way or number in self._ready):
            raise _diverged(f"the script does not wait for call {number}, which it did")
        return self._give(number) if number in self._ready else None

    def _answered(self, left: float | None) -> str | None:
        """Return the answer that ends a turn at once, if there is one."""
        if self._ready and not self._sleeps:
            return self._give(next(iter(self._ready)))
        if left == 0:
            return self.passed()
        if left is None and (self._sleeps or not self._under_way):
            message = "nothing can come any more: the script waits for what is done nowhere"
            raise RunEnded(Raised(kind="RuntimeError", message=message))
        return None

    def _give(self, call: int) -> str:
        done = self._ready.pop(call)
        self._close(call)
        text = completion_text(call, done)
        if len(text) <= PART or len(text.encode()) <= TURN_BYTES:
            return text
        starts = range(0, len(text), PART)
        self._rest = [text[start : start + PART] for start in reversed(starts)]
        return self._next_part()

    def _next_part(self) -> str:
        text = self._rest.pop()
        return part_text(text, more=bool(self._rest))

    def _close(self, ended_by: int) -> None:
        if not self._open:
            raise broken("the end of a turn that is not open")
        self._open = False
        if self.playing:
            self._at += 1
        elif self._replay is not None and not self._replay.torn:
            if len(self._replay.turns) < MOST_TURNS:
                self._replay.turns.append(ended_by)
            else:
                self._replay.torn = True


def _beside(found: Sequence[Request]) -> tuple[bool, Sequence[int]]:
    """Return the requests beside calls: whether only time is awaited, and withdrawn calls."""
    if any(isinstance(request, RequestPart | Rest) for request in found):
        raise broken("requests that do not belong together")
    sleeps = any(isinstance(request, Slept) for request in found)
    return sleeps, [request.id for request in found if isinstance(request, Withdrawn)]


def _call(request: Requested, *, recorded: bool) -> Call:
    return Call(
        tool=request.tool,
        arguments=request.arguments,
        origin="script",
        id=str(request.id),
        positional=request.positional,
        recorded=recorded,
    )


def _diverged(why: str) -> RunEnded:
    return RunEnded(Diverged(message=f"{why}: the record belongs to another script"))
