"""Runs the event loop of a command, and turns signals into a cancelled run."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import TypeVar, cast

import anyio
from anyio.abc import TaskStatus

from lineshaft.cli._exit import LEFT_BEHIND
from lineshaft.errors import LineshaftError
from lineshaft.values import Struct

T = TypeVar("T")


class SignalHandling(Struct):
    """The effect of the first signal; the work may change it while it goes on."""

    cancel: Callable[[], None] | None = None
    """None: all of the work is cancelled."""


def carry(work: Callable[[], Awaitable[T]], signals: SignalHandling | None = None) -> T:
    """Run async work to its end and return its result.

    From its beginning to its end, Ctrl-C and the signals that tell the process to end are heard.
    The first one cancels; a second one then has its usual meaning, so that work which does not
    settle can be left. A tool that does not end when it is told to is left behind: the loop then
    stays open, because closing it would wait for the tool, and the process ends without it.

    Args:
        work: Makes what is awaited.
        signals: What the first signal does; the work may change it.

    Raises:
        LineshaftError: What the work raised, taken out of the groups it came in.
        KeyboardInterrupt: The work was cancelled and gave no result, or a person did not wait
            for its end.
    """
    runner, signals = asyncio.Runner(), signals or SignalHandling()
    try:
        return runner.run(_heard(work, signals))
    except BaseExceptionGroup as group:
        error = _first(group)
        if error is None:
            raise
        raise error from group
    except KeyboardInterrupt as error:
        if signals.cancel and not error.args and asyncio.all_tasks(runner.get_loop()):
            text = "left before the run was settled; where it had begun, `lineshaft runs` lists it"
            raise KeyboardInterrupt(text) from error
        raise
    finally:
        if asyncio.all_tasks(runner.get_loop()):
            LEFT_BEHIND.append(runner)
        else:
            runner.close()


async def _heard(work: Callable[[], Awaitable[T]], signals: SignalHandling) -> T:
    async with anyio.create_task_group() as group:
        await group.start(_listen, signals, group.cancel_scope.cancel)
        done = await work()
        group.cancel_scope.cancel()
        return done
    raise KeyboardInterrupt("cancelled")


async def _listen(
    signals: SignalHandling,
    cancel_all: Callable[[], None],
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    wanted = _wanted()
    if not wanted:
        task_status.started()
        return
    loop, heard = asyncio.get_running_loop(), asyncio.Event()

    def hear(_number: int, _frame: FrameType | None) -> None:
        # At once, and not by the loop: work that blocks it must not keep a person, who asks twice.
        restore()
        loop.call_soon_threadsafe(heard.set)

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    usual = {number: _usual(number) for number in wanted}
    try:
        for number in wanted:
            signal.signal(number, hear)
        task_status.started()
        await heard.wait()
    finally:
        restore()
    (signals.cancel or cancel_all)()


def _wanted() -> tuple[signal.Signals, ...]:
    """Return the signals that end a command; those that the parent ignores stay ignored."""
    if sys.platform == "win32":
        return ()
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN)


def _usual(number: signal.Signals) -> Callable[[int, FrameType | None], object] | int:
    """Return what a signal does without us; Ctrl-C interrupts, whatever asyncio has made of it."""
    if number is signal.SIGINT:
        return signal.default_int_handler
    handler = signal.getsignal(number)
    return signal.SIG_DFL if handler is None else handler


def _first(group: BaseExceptionGroup[BaseException]) -> LineshaftError | None:
    for error in group.exceptions:
        if isinstance(error, LineshaftError):
            return error
        if isinstance(error, BaseExceptionGroup):
            return _first(cast("BaseExceptionGroup[BaseException]", error))
    return None
