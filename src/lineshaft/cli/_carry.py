"""Runs the event loop of a command, and turns signals into a cancelled run."""

import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
from anyio.abc import TaskStatus

from lineshaft.errors import LineshaftError

T = TypeVar("T")


def carry(work: Callable[[], Awaitable[T]]) -> T:
    """Run async work to its end and return its result.

    Raises:
        LineshaftError: What the work raised, taken out of the groups it came in.
    """
    try:
        return anyio.run(work)
    except BaseExceptionGroup as group:
        error = _first(group)
        if error is None:
            raise
        raise error from group


def _first(group: BaseExceptionGroup[BaseException]) -> LineshaftError | None:
    for error in group.exceptions:
        if isinstance(error, LineshaftError):
            return error
        if isinstance(error, BaseExceptionGroup):
            return _first(cast("BaseExceptionGroup[BaseException]", error))
    return None


async def cancel_on_signal(
    cancel: Callable[[], None], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Call `cancel` at the first Ctrl-C, or when the process is told to end.

    A second signal then has its usual meaning, so that a run which does not settle can be left.
    """
    if sys.platform == "win32":
        task_status.started()
        return
    wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with anyio.open_signal_receiver(*wanted) as signals:
        task_status.started()
        async for _ in signals:
            cancel()
            return
