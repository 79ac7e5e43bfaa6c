"""Calls that wait for a person, gathered until nothing else can go on."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import cast

import anyio

from lineshaft.gate._bounded import Ending, bounded
from lineshaft.values import Answer, Approver, Pending

NOBODY = Answer(allow=False, reason="it needs an approval, and nobody is there to give it")
UNANSWERED = Answer(allow=False, reason="it needs an approval, and none was given")


class Asks:
    """The pending calls of one run, shown to the approver as one list.

    Args:
        approver: Answers; None: every ask is refused.
        turn: One approver call at a time in a session.
        paused: Stops the run's clock while a person is waited for.
        stuck: Whether nothing in the run can go on without an answer.
    """

    def __init__(
        self,
        approver: Approver | None,
        *,
        turn: anyio.Lock,
        paused: Callable[[], AbstractContextManager[None]],
        stuck: Callable[[Collection[str]], bool],
    ) -> None:
        self._approver = approver
        self._turn = turn
        self._paused = paused
        self._stuck = stuck
        self._pending: dict[str, tuple[Pending, anyio.Event]] = {}
        self._answers: dict[str, Answer] = {}
        self._for_the_run: dict[str, Answer] = {}
        self._changed = anyio.Event()
        self._asking = False

    async def answer(self, pending: Pending) -> Answer:
        """Return a person's answer to one call; waits for it."""
        if self._approver is None:
            return NOBODY
        if pending.rule in self._for_the_run:
            return self._for_the_run[pending.rule]
        answered = anyio.Event()
        self._pending[pending.id] = (pending, answered)
        try:
            await self._until_answered(pending.id, answered, self._approver)
        finally:
            self._pending.pop(pending.id, None)
        return self._answers.pop(pending.id)

    def look(self) -> None:
        """Look again whether the run is stuck; called whenever that may have changed."""
        if self._pending:
            self._changed.set()

    async def _until_answered(
        self, call_id: str, answered: anyio.Event, approver: Approver
    ) -> None:
        # One of the waiting calls speaks for all of them; when it is cancelled, another does.
        while not answered.is_set():
            if self._asking or not self._stuck(self._pending):
                self._changed = anyio.Event() if self._changed.is_set() else self._changed
                changed = self._changed
                await changed.wait()
                continue
            self._asking = True
            try:
                with self._paused():
                    await self._ask(approver)
            finally:
                self._asking = False
                self._changed.set()

    async def _ask(self, approver: Approver) -> None:
        async with self._turn:
            asked = {i: p for i, (p, _) in self._pending.items() if i not in self._answers}
            answers = await _answers(approver, asked)
        for call_id, answer in answers.items():
            self._settle(asked[call_id], answer)

    def _settle(self, pending: Pending, answer: Answer) -> None:
        if answer.scope == "run":
            self._for_the_run[pending.rule] = answer
        waiting = self._pending.get(pending.id)
        if waiting is not None:
            self._answers[pending.id] = answer
            waiting[1].set()
        for other, _ in list(self._pending.values()):
            later = answer.scope == "run" and other.rule == pending.rule
            if later and other.id not in self._answers:
                self._settle(other, Answer(allow=answer.allow, reason=answer.reason))


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
        return _refused(asked, f"it gave {value!r}, not answers by id")
    given = cast("Mapping[object, object]", value)
    answers: dict[str, Answer] = {}
    for call_id in asked:
        answer = given.get(call_id)
        if isinstance(answer, Answer):
            answers[call_id] = answer
        elif answer is not None:
            return _refused(asked, f"it gave {answer!r}, not an Answer")
    return answers or dict.fromkeys(asked, UNANSWERED)


def _refused(asked: Mapping[str, Pending], why: str) -> Mapping[str, Answer]:
    return dict.fromkeys(asked, Answer(allow=False, reason=f"the approver failed: {why}"))
