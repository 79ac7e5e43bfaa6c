"""One script in one process, from its text to its result."""

import _thread
import asyncio
import atexit
import ctypes
import linecache
import resource
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextvars import copy_context
from functools import partial
from types import CodeType

from lineshaft.engines._cpython._inside._channel import Channel
from lineshaft.engines._cpython._inside._code import compile_script
from lineshaft.engines._cpython._inside._program import Program
from lineshaft.engines._cpython._inside._scope import Scope
from lineshaft.engines._cpython._inside._told import misspelt, raised, told
from lineshaft.engines._cpython._inside._too_big import refuse_requests_over
from lineshaft.engines._cpython._inside._values import sentence_of
from lineshaft.engines._cpython._wire import Execute, TooLarge
from lineshaft.engines._plain import NotPlain, plain

_MB = 1_000_000
_HEADROOM = 32 * _MB
"""What telling of a lack of memory may take."""

Result = Mapping[str, object]


def perform(
    order: Execute,
    channel: Channel,
    *,
    loop: asyncio.AbstractEventLoop,
    libc: ctypes.CDLL | None,
) -> Result:
    """Run a script and return the `result` message, but for its type.

    Args:
        order: The script.
        channel: Makes its calls.
        loop: Not yet used; for what the script awaits at its top level.
        libc: The C library, where there is one.
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
    _bound_usage(order, libc)
    return _guarded(partial(_execute, code, scope, loop), scope, order)


def _bound_usage(order: Execute, libc: ctypes.CDLL | None) -> None:
    if order.memory_bytes is not None:
        most = order.memory_bytes
        refuse_requests_over(order.memory_mb * _MB, libc)
        resource.setrlimit(resource.RLIMIT_AS, (most, most + _HEADROOM))
    if order.cpu_seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (order.cpu_seconds, order.cpu_seconds + 1))
    sys.setrecursionlimit(_depth() + order.recursion)


def _depth() -> int:
    frame = sys._getframe()  # noqa: SLF001  documented, for this
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


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
        if _thread._count():  # noqa: SLF001  as in `_channel.py`
            threading._shutdown()  # noqa: SLF001  what the interpreter itself does at its end
        atexit._run_exitfuncs()  # noqa: SLF001  the same


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
        report = raised("TypeError", f"the script's value is {error}", [])
        channel.say({"type": "result", **report, "code": code})


_run = asyncio.run


def run_anywhere(main: Coroutine[object, object, object], **options: object) -> object:
    """Do what `asyncio.run` does; also inside a running loop, which waits meanwhile."""
    if asyncio._get_running_loop() is None:  # noqa: SLF001  as in `_scope.py`
        return _run(main, **options)  # pyright: ignore[reportArgumentType]  as they were given
    came: list[object] = []
    context = copy_context()

    def work() -> None:
        try:
            came.extend((context.run(partial(_run, main, **options)), None))  # pyright: ignore
        except BaseException as error:  # noqa: BLE001  raised where it belongs
            came.extend((None, error))

    thread = threading.Thread(target=work, name="asyncio.run")
    thread.start()
    thread.join()
    value, error = came
    if isinstance(error, BaseException):
        raise error
    return value
