"""Calls that wait for a person, gathered until nothing else can go on."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import cast

import anyio
from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._messages import OVER
from lineshaft.values import Answer, Approver, Pending, Struct

NOBODY = Answer(allow=False, reason="it needs an approval, and nobody is there to give it")
ALL = "*"
"""In place of a call's id: all that have no answer of their own."""

UNANSWERED = Answer(allow=False, reason="it needs an approval, and none was given")


class _Waiter(Struct):
    """A call that waits."""

    pending: Pending
    within: tuple[str, ...]
    """Keys of the container calls around it, the innermost first."""

    may_pause: bool
    """The run may be paused over it."""

    schema: str = ""
    """The digest of what its tool takes."""

    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Answer | None = None
    left: bool = False
    """The approver was asked and left it open."""


class Asks:
    """The pending calls of one run, shown to the approver as one list.

    Args:
        approver: Answers; None: there is none.
        approver_lock: One call of the approver at a time.
        paused: Stops the run's clock while a person is waited for.
        stuck: Whether nothing in the run can go on without an answer.
        can_pause: Whether an ask without an answer may wait until the run is resumed.
        left: Told each time that something has to wait, where no engine asks for it.
    """

    def __init__(
        self,
        approver: Approver | None,
        *,
        approver_lock: anyio.Lock,
        paused: Callable[[], AbstractContextManager[None]],
        stuck: Callable[[Collection[str]], bool],
        can_pause: Callable[[], bool],
        left: Callable[[], None],
    ) -> None:
        self._approver = approver
        self._approver_lock = approver_lock
        self._paused = paused
        self._stuck = stuck
        self._can_pause = can_pause
        self._left = left
        self._over = False
        self._waiters: dict[str, _Waiter] = {}
        self._order: dict[str, int] = {}
        self.for_the_run: dict[str, Answer] = {}
        """Answers for all later calls of a container, by its key (of the script itself: none),
        `Pending.grant` and the digest of what the tool takes."""

        self._changed = anyio.Event()
        self._asking: anyio.CancelScope | None = None

    def expect(self, call_id: str) -> None:
        """Note that a call is about to wait: a list shows calls in the order in which they came."""
        self._order.setdefault(call_id, len(self._order))

    def keep(
        self, pending: Pending, within: tuple[str, ...], answer: Answer, *, schema: str
    ) -> None:
        """Keep an answer for the calls that come later; arguments as for `answer`."""
        self.for_the_run[_place(within[:1], pending, schema)] = answer

    async def answer(
        self,
        pending: Pending,
        *,
        within: tuple[str, ...] = (),
        may_pause: bool = True,
        schema: str = "",
    ) -> Answer:
        """Return a person's answer to one call; waits for it.

        Args:
            pending: The call.
            within: Keys of the container calls around it, the innermost first.
            may_pause: Whether the run may be paused over it.
            schema: The digest of what its tool takes: an answer for the run is for that.

        Raises:
            ToolError: The run ended first.
        """
        for place in _places(within, pending, schema):
            if place in self.for_the_run:
                return self.for_the_run[place]
        if self._approver is None and not (may_pause and self._can_pause()):
            return NOBODY
        waiter = self._waiters[pending.id] = _Waiter(pending, within, may_pause, schema)
        try:
            await self._until_answered(waiter)
        finally:
            del self._waiters[pending.id]
        return waiter.answer or UNANSWERED

    def close(self) -> None:
        """End all waits: the run is over."""
        self._over = True
        self._changed.set()
        if self._asking is not None:
            self._asking.cancel()

    def look(self) -> None:
        """Look again whether the run is stuck; called whenever that may have changed."""
        if self._waiters:
            self._changed.set()

    @property
    def unanswered(self) -> tuple[Pending, ...]:
        """The asks without an answer here, for which the run pauses; empty while one may come."""
        if self._asking is not None or not self._waiters:
            return ()
        waiters = self._in_order()
        open_ends = self._approver is None or all(waiter.left for waiter in waiters)
        done = any(waiter.answered.is_set() for waiter in waiters)
        return tuple(w.pending for w in waiters) if open_ends and not done else ()

    async def _until_answered(self, waiter: _Waiter) -> None:
        # One of the waiting calls speaks for all of them; when it is cancelled, another does.
        while not waiter.answered.is_set():
            if self._over:
                raise ToolError(OVER.code, OVER.message)
            if self._approver is None and not self._can_pause():
                waiter.answer = NOBODY  # a pause became impossible meanwhile
                return
            if self._approver is None or self._asking is not None or not self._is_time():
                self._changed = anyio.Event() if self._changed.is_set() else self._changed
                changed = self._changed
                self._left()
                await changed.wait()
                continue
            self._asking = anyio.CancelScope()
            try:
                with self._paused(), self._asking:
                    await self._ask(self._approver)
            finally:
                self._asking = None
                self._changed.set()

    def _in_order(self) -> list[_Waiter]:
        last = len(self._order)
        return sorted(self._waiters.values(), key=lambda w: self._order.get(w.pending.id, last))

    def _is_time(self) -> bool:
        waits = self._can_pause()  # else what the approver left open is asked again
        new = any(
            not (w.left and waits) and not w.answered.is_set() for w in self._waiters.values()
        )
        return new and self._stuck(self._waiters)

    async def _ask(self, approver: Approver) -> None:
        async with self._approver_lock:
            waiting = {w.pending.id: w for w in self._in_order() if not w.answered.is_set()}
            asked = {call_id: waiter.pending for call_id, waiter in waiting.items()}
            answers = await _answers(approver, asked)
        if not answers and not self._can_pause():
            answers = dict.fromkeys(asked, UNANSWERED)
        for call_id, waiter in waiting.items():
            if call_id in answers:
                self._settle(waiter, answers[call_id])
        for waiter in waiting.values():
            waiter.left = self._can_pause()
            if not (waiter.may_pause or waiter.answered.is_set()):
                self._settle(waiter, UNANSWERED)

    def _settle(self, waiter: _Waiter, answer: Answer) -> None:
        waiter.answer = answer
        waiter.answered.set()
        if answer.scope != "run":
            return
        self.keep(waiter.pending, waiter.within, answer, schema=waiter.schema)
        place = _place(waiter.within[:1], waiter.pending, waiter.schema)
        for other in self._waiters.values():
            covering = _places(other.within, other.pending, other.schema)
            if not other.answered.is_set() and place in covering:
                self._settle(other, Answer(allow=answer.allow, reason=answer.reason))


def _places(within: tuple[str, ...], pending: Pending, schema: str) -> Iterator[str]:
    """Yield what an answer that covers a call may be kept under."""
    for at in range(len(within)):
        yield _place(within[at : at + 1], pending, schema)
    yield _place((), pending, schema)


def _place(container: tuple[str, ...], pending: Pending, schema: str) -> str:
    return " ".join((*container, pending.grant, schema))


_ANSWERS = "`return {call.id: Answer(allow=True) for call in pending}`"


async def _answers(approver: Approver, asked: Mapping[str, Pending]) -> Mapping[str, Answer]:
    """Return an approver's answers to what it was asked; a refusal where it fails to give any.

    It is the user's code: it may raise anything, give anything, or not end when it is told to.
    """
    ending = Ending()
    await bounded(partial(approver, tuple(asked.values())), seconds=None, ending=ending)
    if ending.error is not None:
        return _refused(asked, f"{type(ending.error).__name__}: {ending.error}")
    value = ending.value
    if not isinstance(value, Mapping):
        return _refused(asked, f"it gave {value!r}, not answers by id: {_ANSWERS}")
    given = cast("Mapping[object, object]", value)
    answers: dict[str, Answer] = {}
    for call_id in asked:
        answer = given.get(call_id, given.get(ALL))
        if isinstance(answer, Answer):
            answers[call_id] = answer
        elif answer is not None:
            return _refused(asked, f"it gave {answer!r}, not an Answer: {_ANSWERS}")
    return answers


def _refused(asked: Mapping[str, Pending], why: str) -> Mapping[str, Answer]:
    return dict.fromkeys(asked, Answer(allow=False, reason=f"the approver failed: {why}"))
