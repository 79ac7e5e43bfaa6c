"""A run under way, as its owner holds it."""

import logging
from collections.abc import AsyncIterator, Awaitable
from typing import Protocol

import anyio

from lineshaft.errors import ConfigError, LineshaftError
from lineshaft.scripts import Control
from lineshaft.session._live_runs import LiveRuns
from lineshaft.values import Event, RunResult, Sink

_LOG = logging.getLogger(__name__)


class RunWork(Protocol):
    """The work of a run, under its control."""

    def __call__(self, *, control: Control, sinks: tuple[Sink, ...]) -> Awaitable[RunResult]:
        """Run and settle."""
        ...


class Run:
    """A run that goes on in the background: its events, its end, and the way to stop it."""

    def __init__(self, run_id: str, control: Control) -> None:
        self.run_id = run_id
        """Its id in the record."""

        self._control = control
        self._events: list[Event] = []
        self._more = anyio.Event()
        self._done = anyio.Event()
        self._result: RunResult | None = None
        self._failed: Exception | None = None

    def cancel(self) -> None:
        """End the run from outside; its result says `cancelled`."""
        self._control.end("cancelled", "E_CANCELLED", "the run was cancelled")

    async def result(self) -> RunResult:
        """Wait for the end.

        Raises:
            ConfigError: The run could not begin.
            LineshaftError: The event loop was closed before the run had a result.
            Exception: What kept the run from being settled, a fault of Lineshaft.
        """
        await self._done.wait()
        if self._failed is not None:
            raise self._failed
        if self._result is None:
            raise LineshaftError(f"the event loop was closed before run {self.run_id} ended")
        return self._result

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Iterate over the run's events, from the first to the last, as they come.

        Any number of readers may do so, each for itself, also after the run's end.
        """
        told = 0
        while True:
            while told < len(self._events):
                yield self._events[told]
                told += 1
            if self._done.is_set():
                return
            if self._more.is_set():
                self._more = anyio.Event()
            await self._more.wait()

    async def carry_out(self, live: LiveRuns, work: RunWork) -> None:
        """Do the run's work; called once, by the session, which ends it by its control alone."""
        try:
            with anyio.CancelScope(shield=True), live.holding(self._control) as control:
                self._result = await work(control=control, sinks=(self._take,))
        except ConfigError as error:
            self._failed = error
        except Exception as error:  # noqa: BLE001  it is the result's; other runs go on
            _LOG.exception("run %s could not be settled", self.run_id)
            self._failed = error
        finally:
            self._done.set()
            self._more.set()

    def _take(self, event: Event) -> None:
        self._events.append(event)
        self._more.set()
