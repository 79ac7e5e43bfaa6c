"""An engine without an interpreter: its script is a list of calls."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import cast

from lineshaft.values import (
    Call,
    Crashed,
    Dispatch,
    Done,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    Returned,
    Suspended,
    Waiting,
)

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.1


class ScriptedEngine:
    """Makes the calls that it was given, whatever the program says.

    Results of the last run are kept by call id, for a test to look at: a call that fails is
    no reason to stop.

    Args:
        calls: Made one after another; several calls in one item are made at once. Those
            without an id are numbered.
        value: What the script returns.
        printed: What it prints before its first call.
    """

    def __init__(
        self,
        calls: Iterable[Call | Iterable[Call]] = (),
        *,
        value: object = None,
        printed: str = "",
    ) -> None:
        self._groups = _numbered(calls)
        self._value = value
        self._printed = printed
        self.results: dict[str, Done] = {}
        """What came of the calls of the last run, by id."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "scripted"

    @property
    def interprets(self) -> bool:
        """It makes its calls whatever the program's text says."""
        return False

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return "replay"

    async def ready(self) -> None:
        """Do nothing: there is nothing to start."""

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
        resume: bytes | None = None,
    ) -> Outcome:
        """Make the calls, or those that were left when the run was suspended."""
        del program, limits
        self.results = {}
        finished: set[str] = set()
        if resume is not None:
            try:
                finished = set(cast("list[str]", json.loads(resume)))
            except ValueError:
                return Crashed(message="the suspended run cannot be read: its state is damaged")
        elif self._printed:
            output("stdout", self._printed)
        for group in self._groups:
            left = [call for call in group if call.id not in finished]
            await self._make(left, dispatch, waiting)
            finished.update(call.id for call in left if call.id in self.results)
            if any(call.id not in finished for call in left):
                return Suspended(state=json.dumps(sorted(finished)).encode())
        return Returned(value=self._value)

    async def _make(self, calls: Sequence[Call], dispatch: Dispatch, waiting: Waiting) -> None:
        """Make calls at once, until all of them are done or the run is to be suspended."""
        tasks = [asyncio.create_task(self._dispatch(call, dispatch)) for call in calls]
        pause = 0.0
        try:
            while left := [task for task in tasks if not task.done()]:
                await asyncio.wait(left, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                pause = min(max(pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
                ids = [call.id for call in calls if call.id not in self.results]
                if ids and waiting(ids) == "suspend":
                    return
        finally:
            await _end(tasks)

    async def _dispatch(self, call: Call, dispatch: Dispatch) -> None:
        self.results[call.id] = await dispatch(call)

    async def aclose(self) -> None:
        """Do nothing: there is no process."""


async def _end(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Cancel what is unfinished and wait for it; raise what a dispatch should not have raised."""
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
            raise outcome


def _numbered(calls: Iterable[Call | Iterable[Call]]) -> list[list[Call]]:
    groups: list[list[Call]] = []
    count = 0
    for item in calls:
        group: list[Call] = []
        for call in [item] if isinstance(item, Call) else item:
            count += 1
            group.append(call if call.id else replace(call, id=str(count)))
        groups.append(group)
    return groups
