"""The small engine by itself: the same driving, stubs and check setting, without Lineshaft.

What somebody would write who picks the engine instead of us: one thread for each run steps the
script, calls go to the event loop, and a kept checker session looks at the script first.
"""

import asyncio
import queue
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from pydantic_monty import (
    ExternalSettledResult,
    FunctionSnapshot,
    FutureSnapshot,
    Monty,
    MontyComplete,
    MontyRuntimeError,
    MontySession,
    NameLookupSnapshot,
    ResourceLimits,
)

LIMITS: ResourceLimits = {
    "max_feed_duration_secs": 600.0,
    "max_memory": 256_000_000,
    "max_recursion_depth": 1_000,
    "max_suspensions": 1_000_000,
}

Function = Callable[..., Awaitable[object]]
Snapshot = FunctionSnapshot | FutureSnapshot | NameLookupSnapshot | MontyComplete


class Bare:
    """A pool of workers, a checker and a few functions.

    Args:
        functions: What scripts may call, by name.
        stubs: Their signatures; None: scripts are not checked.
    """

    def __init__(self, functions: Mapping[str, Function], *, stubs: str | None) -> None:
        self._functions = functions
        self._stubs = stubs
        self._pool = Monty(max_processes=4)
        self._checking = Monty(max_processes=1)
        self._checker: MontySession | None = None
        self._threads = ThreadPoolExecutor(max_workers=8)

    def __enter__(self) -> "Bare":
        self._pool.__enter__()
        if self._stubs is not None:
            self._checking.__enter__()
            self._checker = self._checking.checkout(
                type_check=True, type_check_stubs=self._stubs, type_check_format="json"
            )
            self._checker.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.shutdown()
        if self._checker is not None:
            self._checker.__exit__(None, None, None)
            self._checking.__exit__(None, None, None)
        self._pool.__exit__(None, None, None)

    async def run(self, source: str) -> object:
        """Check a script and execute it."""
        loop = asyncio.get_running_loop()
        if self._checker is not None:
            await loop.run_in_executor(self._threads, self._check, source, self._checker)
        return await loop.run_in_executor(self._threads, self._drive, source, loop)

    def _check(self, source: str, checker: MontySession) -> None:
        lines = "".join(f" {line}\n" for line in source.splitlines())
        wrapped = f"async def __check__():\n{lines}\nraise ValueError('checked')"
        try:
            checker.feed_run(wrapped)
        except MontyRuntimeError as error:
            if "checked" not in str(error):
                raise

    def _drive(self, source: str, loop: asyncio.AbstractEventLoop) -> object:
        with self._pool.checkout(script_name="script.py", limits=LIMITS) as session:
            head = "import asyncio; " if "asyncio." in source else ""
            snapshot = session.feed_start(head + source)
            pending: dict[int, Future[object]] = {}
            finished: queue.SimpleQueue[int] = queue.SimpleQueue()
            while not isinstance(snapshot, MontyComplete):
                snapshot = self._step(snapshot, pending, finished, loop)
            return snapshot.output

    def _step(
        self,
        snapshot: FunctionSnapshot | FutureSnapshot | NameLookupSnapshot,
        pending: dict[int, "Future[object]"],
        finished: "queue.SimpleQueue[int]",
        loop: asyncio.AbstractEventLoop,
    ) -> Snapshot:
        if isinstance(snapshot, NameLookupSnapshot):
            return snapshot.resume(value=self._functions[snapshot.variable_name])
        if isinstance(snapshot, FunctionSnapshot):
            call_id = snapshot.call_id
            call = self._functions[str(snapshot.function_name)](*snapshot.args, **snapshot.kwargs)
            future = asyncio.run_coroutine_threadsafe(_awaited(call), loop)
            pending[call_id] = future
            future.add_done_callback(lambda _: finished.put(call_id))
            return snapshot.resume({"future": ...})
        ready = [finished.get()]
        while not finished.empty():
            ready.append(finished.get())
        answers: dict[int, ExternalSettledResult] = {
            i: {"return_value": pending.pop(i).result()} for i in ready
        }
        return snapshot.resume(answers)


async def _awaited(call: Awaitable[object]) -> object:
    return await call
