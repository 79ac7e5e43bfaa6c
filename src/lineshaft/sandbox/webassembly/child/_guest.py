"""The guest of a program: an instance of the image with WASI's files."""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from lineshaft.sandbox.webassembly import _bindings
from lineshaft.sandbox.webassembly._image import image
from lineshaft.sandbox.webassembly._library import component, wasmtime
from lineshaft.sandbox.webassembly._settings import new_engine
from lineshaft.sandbox.webassembly._threads import check_depth, start_deep
from lineshaft.sandbox.webassembly.child._lending import load

_LONGEST_ANSWER = 8 << 20
_TABLE_ELEMENTS = 1_000_000


class ProgramInstance:
    """A program that is ready to begin.

    Args:
        order: The program to run, with its arguments and limits.
        leave: Ends the process with an exit code and a report.
    """

    def __init__(self, order: Mapping[str, Any], leave: Callable[..., None]) -> None:
        self._order = order
        self._leave = leave
        self._engine = new_engine()
        self._component = load(self._engine, order["native"])
        self._store = self._new_store()
        self._linker = component.Linker(self._engine)
        self._linker.add_wasip2()
        answers = {"turn": _refuse, "write": self._write, "package": _refuse}
        self._callbacks = {
            name: _bindings.function(answer, _forget) for name, answer in answers.items()
        }
        with self._linker.root() as root:
            for name, callback in self._callbacks.items():
                _bindings.add_function(root, name, callback)

    def run(self) -> dict[str, Any]:
        """Run it to its end; return its exit code and its report."""
        ended: dict[str, Any] = {}
        thread = start_deep(lambda: ended.update(self._carry_out()), "lineshaft-program")
        thread.join()
        return ended

    def _new_store(self) -> wasmtime.Store:
        store = wasmtime.Store(self._engine)
        store.set_limits(
            memory_size=image().memory + (self._order["memory_mb"] << 20),
            table_elements=_TABLE_ELEMENTS,
        )
        store.set_epoch_deadline(1)  # nothing counts it on here: the process is killed
        wasi = wasmtime.WasiConfig()
        wasi.inherit_stdout()
        wasi.inherit_stderr()
        for folder in self._order["folders"]:
            wasi.preopen_dir(folder["place"], folder["name"], folder["writable"])
        store.set_wasi(wasi)
        return store

    def _carry_out(self) -> dict[str, Any]:
        order = cast("str", self._order["order"])
        try:
            check_depth()
            found = self._linker.instantiate(self._store, self._component).get_func(
                self._store, "run"
            )
            if found is None:
                raise RuntimeError("the image has no way in")  # noqa: TRY301  reported as every other error
            answer, trap = _bindings.call(self._store, found, order, _LONGEST_ANSWER)
            return _trapped(trap) if trap else told(answer)
        except BaseException as error:  # noqa: BLE001  it is reported, and ends the process
            return _trapped(f"wasm trap: {type(error).__name__}")

    def _write(self, values: _bindings.Values) -> None:
        if values.text(0, 64) == "exit":
            self._leave(**told(values.text(1, _LONGEST_ANSWER)))


def told(answer: str) -> dict[str, Any]:
    """Return a guest's report at its end; it may hold anything.

    Raises:
        ValueError: It is no exit code.
    """
    try:
        given: object = json.loads(answer)
    except RecursionError as error:
        raise ValueError("the guest's answer is nested too deeply") from error
    match given:
        case {"exit": int() as code, "modes": dict()}:
            known = cast("dict[str, dict[str, object]]", given)["modes"].items()
        case _:
            raise ValueError("the guest's answer holds no exit code")
    bits = {path: mode & 0o777 for path, mode in known if isinstance(mode, int)}
    return {"code": code & 0xFF, "modes": bits}


def _trapped(trap: str) -> dict[str, Any]:
    """Print why the interpreter ended, which no program can, and return that it did."""
    if "call stack exhausted" in trap:
        why = "calls, or what it freed, were nested too deeply"
    else:
        _, _, name = trap.partition("wasm trap: ")
        why = name.splitlines()[0] if name else "it ended without an answer"
    os.write(2, f"Python in WebAssembly broke off: {why}\n".encode())
    return {"code": 1, "ended": "trapped"}


def _refuse(values: _bindings.Values) -> None:
    del values
    raise RuntimeError("a program has no tools")


def _forget(error: BaseException) -> None:
    """Do nothing: the guest ends by it, and the host gets a report."""
    del error
