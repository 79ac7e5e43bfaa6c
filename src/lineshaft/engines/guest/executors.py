"""Executors and pools that do their work at once, in order: a script has one thread."""

import _thread
import concurrent.futures
import concurrent.futures.process
import concurrent.futures.thread
import multiprocessing
import multiprocessing.dummy
import multiprocessing.pool
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from multiprocessing.process import BaseProcess as _Process
from types import TracebackType
from typing import Any, TypeVar

from .changes import Changes
from .refusals import THREADS, Refusing, refusing_method

_T = TypeVar("_T")


class AtOnce(Executor):
    """Runs each piece of work when it is submitted.

    Args:
        max_workers: Kept for code that reads it.
        initializer: Called once.
        initargs: Its arguments.
        **_options: Of threads and processes, of which there are none.
    """

    def __init__(
        self,
        max_workers: int | None = None,
        *_names: object,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[object, ...] = (),
        **_options: object,
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._max_workers = max_workers or 1
        self._is_shut = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Do some work now."""
        if self._is_shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[_T] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  it is the future's
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  as Python's own
        """Take no more work."""
        del wait, cancel_futures
        self._is_shut = True


class ThreadPoolExecutor(AtOnce):
    """Stands for the one of `concurrent.futures`."""


class ProcessPoolExecutor(AtOnce):
    """Stands for the one of `concurrent.futures`."""


class InterpreterPoolExecutor(AtOnce):
    """Stands for the one of `concurrent.futures`."""


class _Result:
    """The result of a pool's work."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._value: object = None
        self._error: Exception | None = None
        try:
            self._value = work()
        except Exception as error:  # noqa: BLE001  it is the result's
            self._error = error

    def get(self, timeout: float | None = None) -> object:
        """Return the value."""
        del timeout
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout: float | None = None) -> None:
        """Return at once."""

    def ready(self) -> bool:
        """Return that it is done."""
        return True

    def successful(self) -> bool:
        """Return whether no error was raised."""
        return self._error is None


class Pool:
    """Stands for the one of `multiprocessing`."""

    def __init__(
        self,
        processes: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[object] = (),
        *_args: object,
        **_options: object,
    ) -> None:
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        if initializer is not None:
            initializer(*initargs)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        pass

    def close(self) -> None:
        """Do nothing."""

    def terminate(self) -> None:
        """Do nothing."""

    def join(self) -> None:
        """Do nothing."""

    def apply(
        self,
        func: Callable[..., _T],
        args: Iterable[Any] = (),
        kwds: Mapping[str, Any] | None = None,
    ) -> _T:
        """Call a function."""
        return func(*args, **(kwds or {}))

    def map(
        self, func: Callable[[Any], _T], iterable: Iterable[Any], chunksize: int | None = None
    ) -> list[_T]:
        """Call a function with each item."""
        del chunksize
        return [func(item) for item in iterable]

    def imap(
        self, func: Callable[[Any], _T], iterable: Iterable[Any], chunksize: int = 1
    ) -> Iterator[_T]:
        """Call a function with each item."""
        return iter(self.map(func, iterable, chunksize))

    imap_unordered = imap

    def starmap(
        self,
        func: Callable[..., _T],
        iterable: Iterable[Iterable[Any]],
        chunksize: int | None = None,
    ) -> list[_T]:
        """Call a function with the arguments of each item."""
        del chunksize
        return [func(*item) for item in iterable]

    def apply_async(
        self,
        func: Callable[..., object],
        args: Iterable[Any] = (),
        kwds: Mapping[str, Any] | None = None,
        callback: Callable[[Any], object] | None = None,
        error_callback: Callable[[Exception], object] | None = None,
    ) -> _Result:
        """Call a function, and then the callback."""
        result = _Result(lambda: func(*args, **(kwds or {})))
        _tell(result, callback, error_callback)
        return result

    def map_async(
        self,
        func: Callable[[Any], object],
        iterable: Iterable[Any],
        chunksize: int | None = None,
        callback: Callable[[Any], object] | None = None,
        error_callback: Callable[[Exception], object] | None = None,
    ) -> _Result:
        """Call a function with each item, and then the callback."""
        result = _Result(lambda: self.map(func, iterable, chunksize))
        _tell(result, callback, error_callback)
        return result


def _tell(
    result: _Result,
    callback: Callable[[Any], object] | None,
    error_callback: Callable[[Exception], object] | None,
) -> None:
    try:
        value = result.get()
    except Exception as error:  # noqa: BLE001  the future's reader gets it
        if error_callback is not None:
            error_callback(error)
    else:
        if callback is not None:
            callback(value)


def close_off(changes: Changes) -> None:
    """Put these in the place of Python's own."""
    kinds = (
        (ThreadPoolExecutor, concurrent.futures.thread),
        (ProcessPoolExecutor, concurrent.futures.process),
        (InterpreterPoolExecutor, None),
    )
    for kind, module in kinds:
        name = kind.__name__
        if module is None and not hasattr(concurrent.futures, name):
            continue
        kind.__module__ = "concurrent.futures"
        changes.attribute(concurrent.futures, name, kind)
        if module is not None:
            changes.attribute(module, name, kind)
    for owner in (multiprocessing, multiprocessing.dummy, multiprocessing.pool):
        changes.attribute(owner, "Pool", Pool)
    changes.attribute(multiprocessing.pool, "ThreadPool", Pool)
    for owner, name in (
        (threading.Thread, "threading.Thread"),
        (_Process, "multiprocessing.Process"),
    ):
        start = refusing_method(f"{name}.start", THREADS, RuntimeError)
        changes.attribute(owner, "start", start)
    for name in ("start_new_thread", "start_new"):
        changes.attribute(_thread, name, Refusing(f"_thread.{name}", THREADS, RuntimeError))
