"""The event loop of a script: where nothing is ready, the host is given the turn."""

import _thread
import asyncio
import contextvars
import heapq
import sys
import time
from asyncio import base_events, events, futures, tasks
from collections.abc import Awaitable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar, cast

from .current import current
from .refusals import NETWORK, PROGRAMS, refusal
from .unfinished import awaited, number, tell_unfinished, waiting_lines

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportMissingTypeArgument=false
# ruff: noqa: SLF001  a loop is made of what asyncio keeps private

_T = TypeVar("_T")

_BUSY_TURNS = 32
"""Rounds with work for the script before the host is asked about calls under way."""

_LONGEST = 24 * 3600.0
_FEW_TIMERS = 100
_HALF = 0.5
_STUCK_MOST = 100
"""Number of times that a script may go on after it was told that no event can come."""


class Loop(base_events.BaseEventLoop):
    """One event loop; the calls are the run's."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = current.run.calls
        self._busy = 0
        self._stuck_count = 0
        self._task_count = 0
        self._depth = 0

    def _process_events(self, event_list: list[object]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def time(self) -> float:
        """Return the time by the loop's own clock."""
        return _monotonic()

    def create_task(self, coro: Any, **kwargs: Any) -> "asyncio.Task[Any]":
        """Start a task; names are numbered anew in each loop."""
        self._task_count += 1
        if kwargs.get("name") is None:
            kwargs["name"] = f"Task-{self._task_count}"
        return super().create_task(coro, **kwargs)

    def run_forever(self) -> None:
        """Run until `stop` is called."""
        self._check_closed()
        outside = self._enter()
        try:
            while not self._stopping:
                self._run_once()
            self._stopping = False
        finally:
            self._leave(outside)

    def run_until_complete(self, future: "Generator[Any, None, _T] | Awaitable[_T]") -> _T:
        """Run until a future is done; also inside this very loop."""
        self._check_closed()
        is_new = not futures.isfuture(future)
        task = tasks.ensure_future(cast("Awaitable[_T]", future), loop=self)
        if is_new:
            task._log_destroy_pending = False
        ended: list[object] = []
        task.add_done_callback(ended.append)
        outside = self._enter()
        try:
            while not ended and not self._stopping:
                self._run_once()
            self._stopping = False
        except BaseException:
            if is_new and task.done() and not task.cancelled():
                task.exception()  # it is raised already
            raise
        finally:
            self._leave(outside)
            task.remove_done_callback(ended.append)
        if not task.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return task.result()

    def _enter(self) -> "_Outside":
        """Become the running loop; return the one that ran before."""
        outside = _Outside(_step_out(), sys.get_asyncgen_hooks(), self._thread_id)
        self._thread_id = _thread.get_ident()
        sys.set_asyncgen_hooks(
            firstiter=self._asyncgen_firstiter_hook, finalizer=self._asyncgen_finalizer_hook
        )
        events._set_running_loop(self)
        return outside

    def _leave(self, outside: "_Outside") -> None:
        """Let go on what ran before."""
        events._set_running_loop(None)
        self._thread_id = outside.thread
        sys.set_asyncgen_hooks(*outside.hooks)
        _step_back(outside.running)

    def _run_once(self) -> None:
        self._drop_cancelled_timers()
        self._give_turn()
        timers, ready = self._scheduled, self._ready
        if timers:
            end = self.time() + self._clock_resolution
            while timers and timers[0]._when < end:
                handle = heapq.heappop(timers)
                handle._scheduled = False
                ready.append(handle)
        for _ in range(len(ready)):
            if not ready:  # a loop inside this one was quicker
                break
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        handle = None  # whose callback would live on

    def _give_turn(self) -> None:
        calls, timers = self._calls, self._scheduled
        if self._ready or self._stopping:
            self._busy += 1
            if calls.unsent or (calls.under_way and self._busy % _BUSY_TURNS == 0):
                calls.turn(0.0)
        elif timers:
            seconds = min(max(0.0, timers[0]._when - self.time()), _LONGEST)
            if seconds or calls.unsent:
                calls.turn(seconds)
        elif calls.under_way:
            calls.turn()
        else:
            if calls.unsent:
                calls.turn(0.0)
            self._tell_stuck()

    def _drop_cancelled_timers(self) -> None:
        timers = self._scheduled
        if len(timers) > _FEW_TIMERS and self._timer_cancelled_count / len(timers) > _HALF:
            left = []
            for handle in timers:
                if handle._cancelled:
                    handle._scheduled = False
                else:
                    left.append(handle)
            heapq.heapify(left)
            self._scheduled = left
            self._timer_cancelled_count = 0
            return
        while timers and timers[0]._cancelled:
            self._timer_cancelled_count -= 1
            heapq.heappop(timers)._scheduled = False

    def _tell_stuck(self) -> None:
        """Raise an error in the script's first waiting task: no event can ever come."""
        waiting = sorted(tasks.all_tasks(self), key=number)
        lines = dict.fromkeys(line for task in waiting for line in waiting_lines(task))
        where = "; ".join(lines)
        message = "the script waits for something that can never come"
        error = RuntimeError(f"{message}: {where}" if where else message)
        self._stuck_count += 1
        future = awaited(waiting[0]) if waiting else None
        if future is None or self._stuck_count > _STUCK_MOST:
            raise error
        future.set_exception(error)

    def close(self) -> None:
        """Close it; the script's own loop stays open, for tasks that are still to be awaited."""
        if not self.is_running():
            super().close()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Shut down the executor, whose work is done."""
        del timeout
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._default_executor.shutdown()

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:
        """Take a handler of a signal; none ever comes."""

    def remove_signal_handler(self, sig: int) -> bool:
        """Return that there was none."""
        del sig
        return False

    async def getaddrinfo(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("the network", NETWORK)

    async def getnameinfo(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("the network", NETWORK)

    async def create_connection(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("a network connection", NETWORK)

    async def create_server(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("a server", NETWORK)

    async def create_datagram_endpoint(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("a network connection", NETWORK)

    async def create_unix_connection(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("a network connection", NETWORK)

    async def create_unix_server(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("a server", NETWORK)

    async def subprocess_exec(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("asyncio.create_subprocess_exec", PROGRAMS)

    async def subprocess_shell(self, *_args: Any, **_options: Any) -> Any:
        """Refuse."""
        raise refusal("asyncio.create_subprocess_shell", PROGRAMS)


_monotonic = time.monotonic


class _Running(NamedTuple):
    """A loop that runs, and the task that it executes."""

    loop: asyncio.AbstractEventLoop
    task: "asyncio.Task[Any] | None"


class _Outside(NamedTuple):
    """The running loop that another one replaces."""

    running: _Running | None
    hooks: Any
    thread: int | None


def _step_out() -> _Running | None:
    """Let no loop run and no task be current, and return which were."""
    loop = events._get_running_loop()
    if loop is None:
        return None
    task = tasks.current_task(loop)
    if task is not None:
        tasks._leave_task(loop, task)
    events._set_running_loop(None)
    return _Running(loop, task)


def _step_back(running: _Running | None) -> None:
    """Undo `_step_out`."""
    if running is None:
        return
    events._set_running_loop(running.loop)
    if running.task is not None:
        tasks._enter_task(running.loop, running.task)


@contextmanager
def suspended() -> Generator[None, None, None]:
    """Let no loop run and no task be current meanwhile, as if the code inside came first."""
    running = _step_out()
    try:
        yield
    finally:
        events._set_running_loop(None)
        _step_back(running)


def run_to_end(main: Coroutine[Any, Any, _T]) -> _T:
    """Run a script's coroutine in a loop of its own; end its tasks, as `asyncio.run` does."""
    loop = Loop()
    events.set_event_loop(loop)
    try:
        task = loop.create_task(main, context=contextvars.copy_context())
        result = loop.run_until_complete(task)
        tell_unfinished(loop)
        return result
    finally:
        _end(loop)


def _end(loop: Loop) -> None:
    try:
        left = tasks.all_tasks(loop)
        if left:
            _cancel_all(loop, left)
        if loop._asyncgens or loop._ready:
            loop.run_until_complete(loop.shutdown_asyncgens())
        if loop._default_executor is not None:
            loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        events.set_event_loop(None)
        loop.close()


def _cancel_all(loop: Loop, left: "set[asyncio.Task[Any]]") -> None:
    for task in left:
        task.cancel()
    loop.run_until_complete(tasks.gather(*left, return_exceptions=True))
    for task in left:
        if not task.cancelled() and task.exception() is not None:
            message = "unhandled exception during asyncio.run() shutdown"
            context = {"message": message, "exception": task.exception(), "task": task}
            loop.call_exception_handler(context)
