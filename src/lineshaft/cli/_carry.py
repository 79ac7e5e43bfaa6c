"""Runs the event loop of a command, and turns signals into a cancelled run."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
from anyio.abc import TaskStatus

from lineshaft.cli._exit import LEFT_BEHIND
from lineshaft.errors import LineshaftError

T = TypeVar("T")


class Left(LineshaftError):
    """A person pressed Ctrl-C twice."""

    code = "E_CANCELLED"


def carry(work: Callable[[], Awaitable[T]]) -> T:
    """Run async work to its end and return its result.

    A tool that does not end when it is told to is left behind: the loop then stays open, because
    closing it would wait for the tool, and the process ends without it.

    Raises:
        LineshaftError: What the work raised, taken out of the groups it came in; or a person
            left without waiting for the end.
    """
    runner = asyncio.Runner()
    try:
        return runner.run(_awaited(work))
    except BaseExceptionGroup as group:
        error = _first(group)
        if error is None:
            raise
        raise error from group
    except KeyboardInterrupt as error:
        raise Left("left before the run was settled; its record has no end") from error
    finally:
        if asyncio.all_tasks(runner.get_loop()):
            LEFT_BEHIND.append(runner)
        else:
            runner.close()


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


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
