"""An engine without an interpreter: its script is a list of calls."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from lineshaft.values import (
    Call,
    Dispatch,
    Done,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    PythonTarget,
    Raised,
    Returned,
    Suspended,
    Waiting,
)


class ScriptedEngine:
    """Makes the calls that it was given, with any program.

    Results of the last run are kept by call id, for a test to look at: a call that fails is
    no reason to stop.

    Args:
        calls: Made one after another; several calls in one item are made at once. Those
            without an id are numbered.
        value: What the script returns.
        printed: What it prints before its first call.
        pauses: How its runs go on after a pause. By "replay" they begin again and make all their
            calls again, under the same ids.
    """

    def __init__(
        self,
        calls: Iterable[Call | Iterable[Call]] = (),
        *,
        value: object = None,
        printed: str = "",
        pauses: Pauses = "replay",
    ) -> None:
        self._groups = _numbered(calls)
        self._value = value
        self._printed = printed
        self._pauses: Pauses = pauses
        self.results: dict[str, Done] = {}
        """The outcomes of the calls of the last run, by id."""

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "scripted"

    @property
    def interprets(self) -> bool:
        """It makes its calls with any program."""
        return False

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return self._pauses

    @property
    def identity(self) -> Mapping[str, str]:
        """An execution over a record depends on nothing."""
        return {}

    @property
    def target(self) -> PythonTarget:
        """Nothing is executed: any will do."""
        return PythonTarget()

    async def lacks(self, module: str) -> str:
        """Return that nothing is missing."""
        del module
        return ""

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
    ) -> Outcome:
        """Make the calls; those of one group at once, one group after another."""
        del program, limits
        self.results = {}
        if self._printed:
            output("stdout", self._printed)
        for group in self._groups:
            if not await self._make(group, dispatch, waiting):
                return self._suspended()
        return Returned(value=self._value)

    def _suspended(self) -> Outcome:
        if self._pauses == "never":
            message = "this engine cannot pause a run"
            return Raised(kind="ToolError", message=message, code="E_NO_PAUSE")
        return Suspended()

    async def _make(self, calls: Sequence[Call], dispatch: Dispatch, waiting: Waiting) -> bool:
        """Make calls at once, until all of them are done; False: the run is to be suspended."""
        tasks = [asyncio.create_task(self._dispatch(call, dispatch)) for call in calls]
        try:
            while left := [task for task in tasks if not task.done()]:
                ids = [call.id for call in calls if call.id not in self.results]
                asked = asyncio.ensure_future(waiting(ids))
                try:
                    await asyncio.wait([*left, asked], return_when=asyncio.FIRST_COMPLETED)
                    if asked.done() and asked.result() == "suspend":
                        return False
                    if asked.done():  # it is asked again once something has changed
                        await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    await _end([asked])
        finally:
            await _end(tasks)
        return True

    async def _dispatch(self, call: Call, dispatch: Dispatch) -> None:
        self.results[call.id] = await dispatch(call)

    async def aclose(self) -> None:
        """Do nothing: there is no process."""


async def _end(tasks: Sequence["asyncio.Future[Any]"]) -> None:
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
