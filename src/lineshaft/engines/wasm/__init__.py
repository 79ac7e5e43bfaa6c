"""The engine `wasm`: scripts in CPython compiled to WebAssembly, in threads of this process."""

from lineshaft.engines.wasm.engine import WasmEngine

__all__ = ["WasmEngine"]
