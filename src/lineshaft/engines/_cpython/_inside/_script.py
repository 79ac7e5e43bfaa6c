"""One script in one process, from its text to its result."""

import asyncio
import contextlib
import ctypes
import linecache
import resource
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from types import CodeType

from lineshaft.engines._cpython._inside._channel import Channel
from lineshaft.engines._cpython._inside._code import compile_script
from lineshaft.engines._cpython._inside._interpreter import depth, running_loop, wind_up
from lineshaft.engines._cpython._inside._line import line
from lineshaft.engines._cpython._inside._program import Program
from lineshaft.engines._cpython._inside._rehearsal import REHEARSAL, REHEARSALS
from lineshaft.engines._cpython._inside._scope import Scope
from lineshaft.engines._cpython._inside._told import misspelt, raised, told
from lineshaft.engines._cpython._inside._too_big import refuse_requests_over
from lineshaft.engines._cpython._inside._values import sentence_of
from lineshaft.engines._cpython._wire import (
    TO_ENGINE,
    TO_HOST,
    Execute,
    TooLarge,
    frame,
    from_host,
)
from lineshaft.engines._plain import NotPlain, plain

_MB = 1_000_000
_HEADROOM = 32 * _MB
"""What telling of a lack of memory may take."""

Result = Mapping[str, object]


class Stage:
    """What is set up before there is a script.

    Args:
        loop: For what the script awaits at its top level.
        libc: The C library, where there is one.
        memory_mb: What the script will probably be given; 0: nobody knows.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, libc: ctypes.CDLL | None, memory_mb: int
    ) -> None:
        self.loop = loop
        self._libc = libc
        self._memory_mb = memory_mb
        if memory_mb:
            refuse_requests_over(memory_mb * _MB, libc)

    def rehearse(self) -> None:
        """Touch what a script will need: pages are shared with the parent until then."""
        nothing = Program({}, frozenset({"tool"}), {})
        code = compile_script(REHEARSAL, "", nothing)
        _drive(eval(code, {"sleep": asyncio.sleep}), self.loop)  # noqa: S307  our own text
        frame(
            {"type": "tool_call", "id": "0", "positional": [plain([1.5, {"a": (None,)}])]}, TO_HOST
        )
        answer = frame({"type": "tool_call_response", "id": "0", "value": {"a": [1]}}, TO_ENGINE)
        from_host().receive(answer)

    def rehearse_packages(self, has_news: Callable[[], bool]) -> None:
        """Touch what a script will need of packages that were imported ahead, until it is there."""
        for name, text in REHEARSALS.items():
            module = sys.modules.get(name)
            if module is not None and not has_news():
                with contextlib.suppress(Exception):  # of a version that has other ways
                    exec(text, {"module": module})  # noqa: S102  our own text

    def bound_usage(self, order: Execute) -> None:
        """Hold the script to its limits."""
        if order.memory_bytes is not None:
            most = order.memory_bytes
            if order.memory_mb != self._memory_mb:
                refuse_requests_over(order.memory_mb * _MB, self._libc)
            resource.setrlimit(resource.RLIMIT_AS, (most, most + _HEADROOM))
        if order.cpu_seconds is not None:
            seconds = order.cpu_seconds
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        sys.setrecursionlimit(depth() + order.recursion)


def perform(order: Execute, channel: Channel, stage: Stage) -> Result:
    """Run a script and return the `result` message, but for its type.

    Args:
        order: The script.
        channel: Makes its calls.
        stage: What is set up for it.
    """
    source = order.source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    scope = Scope(order, channel)
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[order.name] = (len(source), None, lines, order.name)
    sys.argv = [order.name]
    program = Program(
        order.inputs,
        frozenset(order.tools),
        {name: frozenset(of) for name, of in order.namespaces.items()},
    )
    try:
        code = compile_script(source, order.name, program)
    except SyntaxError as error:
        return misspelt(error, order.name)
    stage.bound_usage(order)
    return _guarded(partial(_execute, code, scope, stage.loop), scope, order)


def _guarded(execute: Callable[[], object], scope: Scope, order: Execute) -> Result:
    memory_mb = order.memory_mb
    try:
        value = _ended_by_itself(execute)
        return _value(value, scope, order.name)
    except BaseException as error:  # noqa: BLE001  whatever the script raised is its result
        _relax()
        return told(error, scope.owns, memory_mb=memory_mb)


def _relax() -> None:
    """Leave room to tell what happened."""
    sys.setrecursionlimit(10_000)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _ended_by_itself(execute: Callable[[], object]) -> object:
    """Return the script's value once all that Python waits for at its end is over."""
    try:
        try:
            return execute()
        except SystemExit as ended:
            if ended.code not in (None, 0):
                raise
            return None
    finally:
        wind_up()


def _execute(code: CodeType, scope: Scope, loop: asyncio.AbstractEventLoop) -> object:
    result: object = eval(code, scope.names)  # noqa: S307  this is the script
    if code.co_flags & 0x80:  # a coroutine's
        return _drive(result, loop)  # pyright: ignore[reportArgumentType]  a coroutine, as it says
    return result


def _drive(coroutine: Coroutine[object, object, object], loop: asyncio.AbstractEventLoop) -> object:
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(coroutine)
    finally:
        _tidy(loop)


def _tidy(loop: asyncio.AbstractEventLoop) -> None:
    """End what is left in a loop, as `asyncio.run` does."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    if getattr(loop, "_asyncgens", True):
        loop.run_until_complete(loop.shutdown_asyncgens())
    if getattr(loop, "_default_executor", True) is not None:
        loop.run_until_complete(loop.shutdown_default_executor())


def _value(value: object, scope: Scope, name: str) -> Result:
    line = scope.never_awaited
    if line is not None:
        message = "a call is made here and never awaited, so it did not run: write `await`"
        report = raised("NotAwaited", message, [(name, line, "<module>")])
        return {**report, "code": "E_NOT_AWAITED"}
    try:
        return {"how": "returned", "value": plain(value)}
    except NotPlain as error:
        message = sentence_of(error, "the script's value")
        return {**raised("TypeError", message, []), "code": "E_NOT_JSON"}


def finish(channel: Channel, result: Result) -> None:
    """Send the result, or why it cannot be sent."""
    try:
        channel.say({"type": "result", **result})
    except (TooLarge, ValueError, TypeError, RecursionError) as error:
        code = "E_TOO_LARGE" if isinstance(error, TooLarge) else "E_NOT_JSON"
        what = "has" if isinstance(error, TooLarge) else "is not JSON:"
        report = raised("TypeError", f"the script's value {what} {error}", [])
        channel.say({"type": "result", **report, "code": code})


_run: Callable[..., object] = asyncio.run


def _run_anew(main: Coroutine[object, object, object], options: Mapping[str, object]) -> object:
    return _run(main, **options)


def run_anywhere(main: Coroutine[object, object, object], **options: object) -> object:
    """Do what `asyncio.run` does; also inside a running loop, which waits meanwhile."""
    if running_loop() is None:
        return _run_anew(main, options)
    came: Future[object] = Future()
    context = copy_context()
    here = line.thread if line.is_here else None

    def work() -> None:
        if here is not None:
            line.thread = threading.get_ident()
        try:
            came.set_result(context.run(_run_anew, main, options))
        except BaseException as error:  # noqa: BLE001  raised where it belongs
            came.set_exception(error)

    threading.Thread(target=work, name="asyncio.run").start()
    try:
        return came.result()
    finally:
        line.thread = here or line.thread
