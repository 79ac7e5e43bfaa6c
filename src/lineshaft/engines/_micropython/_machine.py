"""One WebAssembly engine that runs one fresh interpreter after another, and what those may ask.

The interpreter was built for a system interface (WASI). None is given: of its functions only
those exist here that write to standard output and error, read the clock, and hand over the
arguments. Everything else answers "no such function", so there are no files, no environment,
no network and no processes to reach. What scripts need beyond that goes through `host_call`.
"""

import ctypes
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, cast

import wasmtime

from lineshaft.engines._micropython._artifact import Compiled, new_engine

RESULT_BYTES = 64 * 1024
"""What fits into one answer of `host_call`."""

FILL = b"fill "
"""How the interpreter asks for a module: written over the bytes that it hands in."""

_OK, _BAD_FILE, _FAULT, _NO_FUNCTION = 0, 8, 21, 52
_OUTSIDE_HEAP = 8 * 1024 * 1024
"""What the interpreter needs beside its heap."""

_IGNORED = -1

Function = Callable[..., int | None]


class Guest(Protocol):
    """What a machine tells of the interpreter inside. Raises nothing."""

    def ask(self, what: bytes, text: bytes) -> bytes:
        """Answer a question, in `RESULT_BYTES` at most."""
        ...

    def module(self, name: str) -> bytes:
        """Return a compiled module; empty where there is none."""
        ...

    def write(self, handle: int, data: bytes) -> None:
        """Take what it prints."""
        ...


class _Wild(Exception):
    """The interpreter pointed outside of its memory."""


class Machine:
    """Runs one interpreter at a time. Methods are for one thread, except `interrupt`."""

    def __init__(self, compiled: Compiled) -> None:
        self._engine = new_engine()
        module = compiled.load(self._engine)
        linker = wasmtime.Linker(self._engine)
        given = self._functions()
        for needed in module.imports:
            name = needed.name or ""
            function = given.get(name, _refuse)
            kind = cast("wasmtime.FuncType", needed.type)
            linker.define_func(
                needed.module, name, kind, _quiet(function, kind), access_caller=True
            )
        self._ready = linker.instantiate_pre(module)
        self._memory: wasmtime.Memory | None = None
        self._store: wasmtime.Store | None = None
        self._guest: Guest | None = None
        self._arguments = list[bytes]()

    def run(self, guest: Guest, arguments: list[str], *, heap: int, fuel: int) -> str:
        """Run an interpreter to its end.

        Args:
            guest: Whom it asks, and who takes what it prints.
            arguments: As on a command line.
            heap: Bytes its objects may take.
            fuel: How much it may compute, in instructions.

        Returns:
            What stopped it, in the runtime's words; empty where it came to its end.
        """
        store = wasmtime.Store(self._engine)
        store.set_limits(
            memory_size=heap + _OUTSIDE_HEAP,
            instances=1,
            memories=1,
            tables=8,
            table_elements=10_000,
        )
        store.set_fuel(fuel)
        store.set_epoch_deadline(1)
        self._store = store
        self._guest = guest
        self._arguments = [argument.encode() + b"\0" for argument in arguments]
        try:
            exports = self._ready.instantiate(store).exports(store)
            self._memory = cast("wasmtime.Memory", exports["memory"])
            cast("wasmtime.Func", exports["_start"])(store)
        except Exception as error:  # noqa: BLE001  a trap, or whatever another thread's callback raised
            return str(error) or type(error).__name__
        finally:
            self._guest = self._memory = self._store = None
            store.close()
        return ""

    def refuel(self, fuel: int) -> None:
        """While a guest is asked: let the interpreter compute that much from now on."""
        if self._store is not None:
            self._store.set_fuel(fuel)

    def interrupt(self) -> None:
        """Any thread: end what runs at its next jump or call."""
        self._engine.increment_epoch()

    def _functions(self) -> dict[str, Function]:
        return {
            "host_call": self._host_call,
            "host_result_cap": lambda caller: RESULT_BYTES,  # pyright: ignore[reportUnknownLambdaType]  unused
            "args_sizes_get": self._args_sizes_get,
            "args_get": self._args_get,
            "environ_sizes_get": self._environ_sizes_get,
            "environ_get": lambda caller, pointers, texts: _OK,  # pyright: ignore[reportUnknownLambdaType]  unused
            "clock_time_get": self._clock_time_get,
            "fd_fdstat_get": self._fd_fdstat_get,
            "fd_prestat_get": lambda caller, handle, into: _BAD_FILE,  # pyright: ignore[reportUnknownLambdaType]  unused
            "fd_write": self._fd_write,
            "fd_close": lambda caller, handle: _OK,  # pyright: ignore[reportUnknownLambdaType]  unused
            "sched_yield": lambda caller: _OK,  # pyright: ignore[reportUnknownLambdaType]  unused
            "proc_exit": self._proc_exit,
        }

    def _host_call(self, caller: wasmtime.Caller, *at: int) -> int:
        what_at, what_size, text_at, text_size, into, room = at
        what = self._read(caller, what_at, what_size)
        if self._guest is None:
            return _IGNORED
        if what.startswith(FILL):
            module = self._guest.module(what.removeprefix(FILL).decode("ascii", "replace"))
            self._write(caller, text_at, module[:text_size])
            return 0
        text = self._read(caller, text_at, text_size)
        answer = self._guest.ask(what, text)
        if len(answer) > room:
            return _IGNORED
        self._write(caller, into, answer)
        return len(answer)

    def _args_sizes_get(self, caller: wasmtime.Caller, count_at: int, size_at: int) -> int:
        self._write(caller, count_at, struct.pack("<I", len(self._arguments)))
        self._write(caller, size_at, struct.pack("<I", sum(map(len, self._arguments))))
        return _OK

    def _args_get(self, caller: wasmtime.Caller, pointers: int, texts: int) -> int:
        at = texts
        for number, argument in enumerate(self._arguments):
            self._write(caller, pointers + 4 * number, struct.pack("<I", at))
            self._write(caller, at, argument)
            at += len(argument)
        return _OK

    def _environ_sizes_get(self, caller: wasmtime.Caller, count_at: int, size_at: int) -> int:
        self._write(caller, count_at, bytes(4))
        self._write(caller, size_at, bytes(4))
        return _OK

    def _clock_time_get(
        self, caller: wasmtime.Caller, clock: int, precision: int, into: int
    ) -> int:
        self._write(caller, into, struct.pack("<Q", time.time_ns()))
        return _OK

    def _fd_fdstat_get(self, caller: wasmtime.Caller, handle: int, into: int) -> int:
        if handle not in (0, 1, 2):
            return _BAD_FILE
        character_device = 2
        self._write(caller, into, struct.pack("<BxHxxxxQQ", character_device, 0, 0, 0))
        return _OK

    def _fd_write(self, caller: wasmtime.Caller, *at: int) -> int:
        handle, parts_at, count, written_at = at
        if handle not in (1, 2):
            return _BAD_FILE
        heads = self._read(caller, parts_at, 8 * (count & 0xFFFF))
        parts = [self._read(caller, *place) for place in struct.iter_unpack("<II", heads)]
        data = b"".join(parts)
        if self._guest is not None:
            self._guest.write(handle, data)
        self._write(caller, written_at, struct.pack("<I", len(data)))
        return _OK

    def _proc_exit(self, caller: wasmtime.Caller, code: int) -> None:
        self.interrupt()  # what follows the call is an instruction that cannot be executed

    def _place(self, caller: wasmtime.Caller, at: int, size: int) -> int:
        """Return where in this process some bytes of the interpreter's memory are."""
        if self._memory is None:
            raise _Wild
        at &= 0xFFFFFFFF
        if size < 0 or at + size > self._memory.data_len(caller):
            raise _Wild
        return ctypes.addressof(self._memory.data_ptr(caller).contents) + at

    def _read(self, caller: wasmtime.Caller, at: int, size: int) -> bytes:
        return ctypes.string_at(self._place(caller, at, size), size)

    def _write(self, caller: wasmtime.Caller, at: int, data: bytes) -> None:
        ctypes.memmove(self._place(caller, at, len(data)), data, len(data))


def _refuse(caller: wasmtime.Caller, *arguments: int) -> int:
    return _NO_FUNCTION


def _quiet(function: Function, kind: wasmtime.FuncType) -> Function:
    """Return a function that raises nothing: an exception would end another thread's program."""
    if not kind.results:
        return _silent(function)

    def call(caller: wasmtime.Caller, *arguments: int) -> int | None:
        try:
            return function(caller, *arguments)
        except Exception:  # noqa: BLE001  the interpreter's own fault; it is told so
            return _FAULT

    return call


def _silent(function: Function) -> Function:
    def call(caller: wasmtime.Caller, *arguments: int) -> None:
        with suppress(Exception):
            function(caller, *arguments)

    return call
