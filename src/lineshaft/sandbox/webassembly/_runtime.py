"""The engine of a process, the component in it and the linker: one for all its instances.

This file imports wasmtime, and is imported when the first script runs.
"""

import threading
from collections.abc import Callable

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly import _bindings, _interfaces
from lineshaft.sandbox.webassembly._forks import in_each_child
from lineshaft.sandbox.webassembly._library import component, wasmtime
from lineshaft.sandbox.webassembly._native import (
    NativeCode,
    native_code,
    native_code_of_this_process,
)
from lineshaft.sandbox.webassembly._settings import new_engine
from lineshaft.values import Struct

_TABLE_ELEMENTS = 1_000_000
_Definition = Callable[[component.LinkerInstance, str], None]
_CALLBACKS = {
    place: _bindings.function(answer, _interfaces.refused)
    for place, answer in _interfaces.FUNCTIONS.items()
}
_EPOCH = _bindings.epoch(_interfaces.must_end, _interfaces.refused)


class Runtime(Struct, frozen=True):
    """The parts that all instances of a process share."""

    engine: wasmtime.Engine
    loaded: component.Component
    linker: component.Linker
    native: NativeCode

    def store(self, memory: int) -> wasmtime.Store:
        """Return a new store.

        Args:
            memory: The most bytes that its guest may hold.
        """
        store = wasmtime.Store(self.engine)
        self.bound(store, memory)
        _bindings.set_epoch(store, _EPOCH)
        return store

    def instance(self, store: wasmtime.Store) -> component.Instance:
        """Return a new instance of the image.

        Raises:
            WasmUnavailable: The machine has no room for one.
        """
        try:
            return self.linker.instantiate(store, self.loaded)
        except wasmtime.WasmtimeError as error:
            reason = str(error).partition("\n")[0]
            raise WasmUnavailable(
                f"an interpreter cannot be made: {reason}",
                hint="each reserves more than 4 GB of addresses, and uses little of it: look at the"
                " limits of this process (`ulimit -v`)",
            ) from error

    def bound(self, store: wasmtime.Store, memory: int) -> None:
        """Change the most bytes that the guest of a store may hold."""
        store.set_limits(memory_size=memory, table_elements=_TABLE_ELEMENTS)

    def call(
        self, store: wasmtime.Store, found: component.Func, order: str, bound: int
    ) -> tuple[str, str]:
        """Call a function of a guest; return its answer, or wasmtime's words for its end.

        Args:
            store: The guest's.
            found: Takes a string and returns one.
            order: The string.
            bound: The most bytes of an answer.

        Raises:
            GuestTooLarge: The answer has more bytes.
        """
        return _bindings.call(store, found, order, bound)

    def wake(self) -> None:
        """Make every computing guest of the process check whether it must end."""
        self.engine.increment_epoch()


class _SharedRuntime:
    """The runtime of this process, once there is one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runtime: Runtime | None = None

    def renew(self) -> None:
        """Make the lock free in a forked process."""
        self.lock = threading.Lock()


_SHARED = _SharedRuntime()

in_each_child(_SHARED.renew)


def runtime() -> Runtime:
    """Return the runtime of this process, which is made at first use.

    Raises:
        WasmUnavailable: The image is missing, or wasmtime does not work here.
    """
    with _SHARED.lock:
        if _SHARED.runtime is None:
            native = native_code()
            engine = new_engine()
            try:
                loaded = native.load(engine)
            except wasmtime.WasmtimeError:  # made on another processor, in a shared home folder
                native = native_code_of_this_process()
                loaded = native.load(engine)
            _SHARED.runtime = Runtime(engine, loaded, new_linker(engine, loaded), native)
        return _SHARED.runtime


def new_linker(engine: wasmtime.Engine, loaded: component.Component) -> component.Linker:
    """Return a linker that defines the table of functions, and traps for all else."""
    linker = component.Linker(engine)
    _define(linker)
    linker.allow_shadowing = True  # type: ignore[assignment]  its setter is untyped
    linker.define_unknown_imports_as_traps(loaded)
    return linker


def _define(linker: component.Linker) -> list[str]:
    """Define the table, and return the definitions."""
    interfaces: dict[str, list[tuple[str, _Definition]]] = {}
    for interface, name, kind in _interfaces.RESOURCES:
        interfaces.setdefault(interface, []).append((name, _resource(kind)))
    for (interface, name), callback in _CALLBACKS.items():
        interfaces.setdefault(interface, []).append((name, _function(callback)))
    defined: list[str] = []
    with linker.root() as root:
        for name, define in interfaces.pop("", []):
            define(root, name)
            defined.append(name)
        for interface, definitions in interfaces.items():
            with root.add_instance(interface) as place:
                for name, define in definitions:
                    define(place, name)
                    defined.append(f"{interface}#{name}")
    resources = {f"{interface}#{name}" for interface, name, _ in _interfaces.RESOURCES}
    return [each for each in defined if each not in resources]


def _resource(kind: int) -> _Definition:
    def dropped(_context: object, _thing: int) -> None:
        """Do nothing: there is nothing behind it."""

    def define(place: component.LinkerInstance, name: str) -> None:
        place.add_resource(name, component.ResourceType.host(kind), dropped)

    return define


def _function(callback: object) -> _Definition:
    def define(place: component.LinkerInstance, name: str) -> None:
        _bindings.add_function(place, name, callback)

    return define


def component_imports() -> tuple[str, ...]:
    """Return all functions that the image's component asks for, answered or not."""
    shared = runtime()
    found: list[str] = []
    for name, item in shared.loaded.type.imports(shared.engine).items():
        kind = item.ty
        if isinstance(kind, component.FuncType):
            found.append(name)
        elif isinstance(kind, component.ComponentInstanceType):
            inner = kind.exports(shared.engine).items()
            found += [f"{name}#{key}" for key, e in inner if isinstance(e.ty, component.FuncType)]
    return tuple(sorted(found))


def linker_definitions() -> tuple[str, ...]:
    """Return the names of the functions that the host defines in the linker."""
    engine = runtime().engine
    linker = component.Linker(engine)
    try:
        return tuple(sorted(_define(linker)))
    finally:
        linker.close()
