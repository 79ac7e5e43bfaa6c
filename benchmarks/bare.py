"""The image driven by the smallest program that does the job: what Lineshaft is compared with.

A fresh instance for each script, in a thread of its own; calls are tasks of the event loop, and
their results go back through a queue. No gate, no check, no record, no bounds but memory.
"""

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from lineshaft.sandbox.webassembly import Instance, Instances

MEMORY_MB = 256
Tools = Mapping[str, Callable[..., Awaitable[object]]]


class BareHost:
    """Answers one instance.

    Args:
        tools: By the names that scripts call.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._loop = asyncio.get_running_loop()
        self._answers = SimpleQueue[str]()

    def turn(self, seconds: float, requests: str) -> str:
        """Begin the calls and wait for one completion."""
        del seconds
        if requests != "[]":
            for request in json.loads(requests):
                self._loop.call_soon_threadsafe(self._start, request)
        return self._answers.get()

    def _start(self, request: dict[str, Any]) -> None:
        self._task = self._loop.create_task(self._call(request))

    async def _call(self, request: dict[str, Any]) -> None:
        value = await self._tools[request["tool"]](**request["arguments"])
        self._answers.put(json.dumps([{"id": request["call"], "value": value}]))

    def write(self, name: str, text: str) -> None:
        """Drop what is printed."""

    def package(self, request: str) -> str:
        """Return that there are no packages."""
        del request
        return '{"kind": "none"}'

    def monotonic(self) -> int:
        """Return nanoseconds."""
        return time.monotonic_ns()

    def wall(self) -> int:
        """Return nanoseconds since the epoch."""
        return time.time_ns()

    def random(self, count: int) -> bytes:
        """Return random bytes."""
        return os.urandom(count)


class Bare:
    """Runs scripts on the image alone. Use it with `async with`.

    Args:
        tools: By the names that scripts call.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._instances = Instances()

    async def __aenter__(self) -> Self:
        self._instances.warm()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._instances.close)

    async def run(self, source: str) -> object:
        """Execute a script in an instance of its own."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[str] = loop.create_future()

        def done(answer: str | BaseException) -> None:
            if isinstance(answer, BaseException):
                loop.call_soon_threadsafe(ended.set_exception, answer)
            else:
                loop.call_soon_threadsafe(ended.set_result, answer)

        instance: Instance | None = self._instances.take_ready()
        if instance is None:
            instance = await asyncio.to_thread(self._instances.take)
        order: dict[str, object] = {
            "do": "script",
            "source": source,
            "name": "script.py",
            "inputs": {},
            "tools": sorted(self._tools),
            "namespaces": {},
            "signatures": {},
            "memory_mb": MEMORY_MB,
            "recursion": 1_000,
            "packages": False,
            "workspace_imports": False,
        }
        instance.start(json.dumps(order), BareHost(self._tools), memory_mb=MEMORY_MB, done=done)
        answer = json.loads(await ended)
        if answer["how"] != "returned":
            raise RuntimeError(answer["message"])
        return answer["value"]
