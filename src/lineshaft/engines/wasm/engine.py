"""Engine `wasm`: a fresh interpreter for each script, from instances that are kept ready."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from lineshaft.engines.host.protocol import RunEnded, order_text
from lineshaft.engines.wasm.library import Library
from lineshaft.engines.wasm.packages import PackageSet
from lineshaft.engines.wasm.run import WasmRun
from lineshaft.errors import PythonNotFound
from lineshaft.sandbox.webassembly import Instances, image, native_code
from lineshaft.values import (
    Dispatch,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    PythonOptions,
    PythonTarget,
    Waiting,
    minor_version,
)

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly import Instance  # its parts take time to import

_MAKERS = 2
"""Threads that make instances where no ready one is there."""


class WasmEngine:
    """Executes scripts in CPython that was compiled to WebAssembly.

    Args:
        options: The package set of its scripts.

    Raises:
        WasmUnavailable: This installation has no image.
    """

    name = "wasm"
    interprets = True
    pauses: Pauses = "replay"

    def __init__(self, options: PythonOptions | None = None) -> None:
        self._image = image()
        self._instances = _POOL.acquire()
        packages = (options or PythonOptions()).packages
        self._packages = PackageSet(packages, self._instances.take)
        self._threads = _Threads()
        self._prepared = self._closed = False

    @property
    def identity(self) -> Mapping[str, str]:
        """The image, its Python and the package set."""
        return {
            "image": self._image.digest,
            "python": self._image.python,
            "packages": self._packages.digest,
        }

    @property
    def target(self) -> PythonTarget:
        """The image's Python; packages are there once a script has asked for one."""
        folder = self._packages.installed
        packages = () if folder is None else (str(folder),)
        return PythonTarget(version=minor_version(self._image.python), packages=packages)

    async def ready(self) -> None:
        """Make the native code, and keep instances ready.

        Raises:
            WasmUnavailable: This machine cannot run it.
        """
        if not self._prepared:
            await self._threads.run(native_code)
            self._instances.warm()
            self._prepared = True

    async def lacks(self, module: str) -> str:
        """Return why scripts cannot import a module here that another engine may have.

        Args:
            module: Its dotted name.

        Returns:
            The reason; empty where it is there, or is neither Python's own nor of the package set.
        """
        missing = self._image.missing
        why = missing.get(module) or missing.get(_top(module))
        if why is not None:
            return f"Python in WebAssembly has no module {module} ({why})"
        if not self._packages or not self._strangers((module,)):
            return ""
        try:
            return await self._threads.run(lambda: self._packages.impure(module))
        except PythonNotFound as error:
            return f"packages for Python in WebAssembly cannot be had: {error.message}"

    def library(self) -> Library:
        """Return the modules and files of the package set, installed now if they are not there.

        Raises:
            PythonNotFound: They cannot be had.
        """
        return self._packages.library()

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> Outcome:
        """Execute a program; over its record, where it has one."""
        try:
            order = order_text(program, limits, packages=bool(self._packages))
        except RunEnded as ended:
            return ended.outcome
        await self._prepare_imports(program)
        instance = self._instances.take_ready()
        if instance is None:
            instance = await self._threads.take(self._instances.take)
        try:
            run = WasmRun(
                instance,
                program,
                dispatch,
                limits=limits,
                output=output,
                waiting=waiting,
                packages=self._packages.library if self._packages else None,
            )
        except BaseException:
            instance.close()
            raise
        return await run.execute(order)

    async def aclose(self) -> None:
        """Give back the instances that are ready, unless another engine uses them too."""
        if not self._closed:
            self._closed = True
            await self._threads.run(self._close)
            self._threads.close()

    def _close(self) -> None:
        self._packages.close()
        _POOL.release(self._instances)

    async def _prepare_imports(self, program: Program) -> None:
        """Compile the modules that a script imports, before it begins."""
        strangers = self._strangers(program.imports)
        if strangers and self._packages:
            await self._threads.run(lambda: [self._packages.impure(name) for name in strangers])

    def _strangers(self, imports: Iterable[str]) -> list[str]:
        """Return the modules that are not Python's own."""
        modules, missing = self._image.modules, self._image.missing
        return [name for name in imports if not {name, _top(name)} & (modules | missing.keys())]


def _top(name: str) -> str:
    return name.partition(".")[0]


class _SharedPool:
    """The pool of instances that all engines of the process share."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._users = 0
        self._pool: Instances | None = None

    def acquire(self) -> Instances:
        """Return the pool, which is kept until it is released as often."""
        with self._guard:
            if self._pool is None:
                self._pool = Instances()
            self._users += 1
            return self._pool

    def release(self, pool: Instances) -> None:
        """Close the pool where no other engine uses it."""
        with self._guard:
            self._users -= 1
            if self._users:
                return
            self._pool = None
        pool.close()


_POOL = _SharedPool()

T = TypeVar("T")


class _Threads:
    """Threads for blocking work; made when first needed, and again after a fork."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of some work."""
        return await asyncio.wrap_future(self._submit(work))

    async def take(self, take: "Callable[[], Instance]") -> "Instance":
        """Return an instance; one that comes after a cancel is closed."""
        coming = self._submit(take)
        try:
            return await asyncio.wrap_future(coming)
        except BaseException:
            coming.add_done_callback(_close_instance)
            raise

    def close(self) -> None:
        """End the threads when their work is done."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)

    def _submit(self, work: Callable[[], T]) -> "Future[T]":
        if self._pool is None or self._process != os.getpid():
            self._process = os.getpid()
            self._pool = ThreadPoolExecutor(_MAKERS, thread_name_prefix="lineshaft-wasm")
        return self._pool.submit(work)


def _close_instance(coming: "Future[Instance]") -> None:
    if not coming.cancelled() and coming.exception() is None:
        coming.result().close()
