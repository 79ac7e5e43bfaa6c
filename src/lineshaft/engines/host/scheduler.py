"""Scheduler of a run's tool calls: a task for each, in the event loop."""

import asyncio
from collections.abc import Callable, Iterable
from contextvars import copy_context

from lineshaft.tasks import wait_until_done
from lineshaft.values import Call, Dispatch, Done, Failure, Waiting

_PATIENCE_SECONDS = 0.001
"""A call gets this long to end before `waiting` is asked."""


class CallScheduler:
    """Dispatches calls and reports their ends; made and used in one event loop.

    The calls run in the context in which the scheduler was made.

    Args:
        dispatch: Makes a call.
        waiting: Asked while the script only waits.
        completed: Called for each call that ended, also those that the script withdrew.
        suspend: Called when `waiting` answers "suspend".
        failed: Takes an exception that `dispatch` or `waiting` raised against its contract.
    """

    def __init__(
        self,
        dispatch: Dispatch,
        waiting: Waiting,
        *,
        completed: Callable[[int, Done], None],
        suspend: Callable[[], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._dispatch = dispatch
        self._waiting = waiting
        self._completed = completed
        self._suspend = suspend
        self._failed = failed
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._cancelled: set[asyncio.Task[None]] = set()
        """Tasks of calls that the script withdrew, until they end."""

        self._question: asyncio.Handle | asyncio.Task[None] | None = None
        self._over: set[asyncio.Task[None]] = set()
        """Questions that were given up, until they end."""

        self._stopped = False
        self.completions = 0
        """Calls that ended and were not withdrawn."""

    def start(self, calls: Iterable[Call]) -> None:
        """Dispatch calls, in order."""
        for call in calls:
            # The callback that brings a call may run in another context.
            task = self._loop.create_task(self._make(call), context=self._context.copy())
            self._tasks[int(call.id)] = task

    def cancel(self, numbers: Iterable[int]) -> None:
        """Cancel calls that the script withdrew."""
        for number in numbers:
            task = self._tasks.pop(number, None)
            if task is not None:
                self._cancelled.add(task)
                self._loop.call_soon(_cancel, task)  # after its first step: every call is seen

    def block(self) -> None:
        """Ask `waiting`, unless a completion comes at once; a completion gives the question up.

        A call whose tool computes and does not wait ends within a few rounds of the event loop and
        a hop to a thread, and a question costs as much as the call.
        """
        self._give_up()
        if not self._stopped:
            self._question = self._loop.call_later(
                _PATIENCE_SECONDS, self._ask, context=self._context
            )

    def unblock(self) -> None:
        """Give up the question: the script goes on."""
        self._give_up()

    def stop(self) -> None:
        """Cancel everything, each call once; nothing more is reported."""
        if self._stopped:
            return
        self._stopped = True
        self._give_up()
        for task in self._tasks.values():
            task.cancel()

    @property
    def unfinished(self) -> "set[asyncio.Task[None]]":
        """Everything that was begun and has not ended."""
        tasks = {*self._tasks.values(), *self._cancelled, *self._over}
        return {task for task in tasks if not task.done()}

    async def aclose(self) -> None:
        """Stop, and wait until everything has ended; a cancel comes through after that."""
        self.stop()
        await wait_until_done(self.unfinished)

    def _ask(self) -> None:
        self._question = None
        if self._tasks and not self._stopped:
            self._question = self._loop.create_task(self._wait(), context=self._context.copy())

    async def _wait(self) -> None:
        try:
            answer = await self._waiting([str(number) for number in self._tasks])
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  it is raised where the run is awaited
            self._tell_failed(error)
            return
        if answer == "suspend" and not self._stopped and self._question is asyncio.current_task():
            self._suspend()

    def _give_up(self) -> None:
        question, self._question = self._question, None
        if isinstance(question, asyncio.Task) and not question.done():
            self._over.add(question)
            question.add_done_callback(self._over.discard)
        if question is not None:
            question.cancel()

    async def _make(self, call: Call) -> None:
        number = int(call.id)
        try:
            done = await self._dispatch(call)
        except asyncio.CancelledError:
            if self._stopped:
                raise
            done = Failure("E_CANCELLED", f"{call.tool} was cancelled", status="cancelled")
        except BaseException as error:  # noqa: BLE001  it is raised where the run is awaited
            self._tell_failed(error)
            return
        if self._stopped:
            return
        if self._tasks.pop(number, None) is not None:
            self._give_up()
            self.completions += 1
        elif (task := asyncio.current_task()) is not None:
            self._cancelled.discard(task)
        self._completed(number, done)

    def _tell_failed(self, error: BaseException) -> None:
        if not self._stopped:
            self._failed(error)


def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
