"""A context that a task of its own holds open.

Task groups belong to the task that entered them. A session may be entered in one task and left in
another, or before one that was entered after it: test fixtures and servers do so.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

T = TypeVar("T")


class BackgroundContext(Generic[T]):
    """A context that any task may open and close.

    Args:
        context: Entered and left in one task.
    """

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._context = context
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether another event loop than the one that runs here opened it."""
        return self._task is not None and self._task.get_loop() is not asyncio.get_running_loop()

    async def open(self) -> T:
        """Enter it, and return what it gives.

        Raises:
            BaseException: The exception of entering it.
        """
        opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(opened))
        try:
            await asyncio.wait((self._task, opened), return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            self._task.cancel()
            await self._over()
            raise
        if not opened.done():
            opened.cancel()
            await self._task
        return opened.result()

    async def close(self) -> None:
        """Leave it, also where the caller is cancelled.

        Raises:
            BaseException: The exception of leaving it, or of its earlier end.
        """
        self._closing.set()
        await self._over()
        if self._task is not None:
            self._task.result()

    async def _over(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._task is not None:
                await asyncio.wait((self._task,))

    async def _hold(self, opened: "asyncio.Future[T]") -> None:
        async with self._context as given:
            opened.set_result(given)
            await self._closing.wait()


@asynccontextmanager
async def background(
    inner: AbstractAsyncContextManager[object], *, closed: Sequence[Callable[[], object]]
) -> AsyncGenerator[TaskGroup]:
    """Give a group for tasks in the background.

    Args:
        inner: Open as long as the group is.
        closed: Called at the end, the last one first; what they return is awaited.
    """

    async def close(call: Callable[[], object]) -> None:
        result = call()
        if inspect.isawaitable(result):
            await result

    async with AsyncExitStack() as stack:
        for call in closed:
            stack.push_async_callback(close, call)
        await stack.enter_async_context(inner)
        yield await stack.enter_async_context(anyio.create_task_group())
