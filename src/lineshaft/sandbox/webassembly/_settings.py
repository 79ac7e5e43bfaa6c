"""Settings of the engine, for making and loading native code.

This file imports wasmtime, and is imported when the first script runs.
"""

from lineshaft.sandbox.webassembly import _bindings
from lineshaft.sandbox.webassembly._library import component, wasmtime
from lineshaft.sandbox.webassembly._threads import WASM_STACK


def new_engine() -> wasmtime.Engine:
    """Return an engine with the settings that the native code is made with."""
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.cranelift_opt_level = "speed"
    config.cranelift_nan_canonicalization = True  # its bits differ between machines otherwise
    config.memory_init_cow = True
    _bindings.set_stack(config, WASM_STACK)
    return wasmtime.Engine(config)


def compile_component(wasm: bytes) -> bytes:
    """Return the native code of a component; uses all cores for some seconds."""
    engine = new_engine()
    made = component.Component(engine, wasm)
    try:
        return bytes(made.serialize())
    finally:
        made.close()
        engine.close()
