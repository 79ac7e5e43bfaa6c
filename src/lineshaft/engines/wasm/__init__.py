"""The engine `wasm`: scripts in CPython compiled to WebAssembly, in threads of this process."""

from lineshaft.engines.wasm.engine import WasmEngine
from lineshaft.engines.wasm.packages import PackageSet

__all__ = ["PackageSet", "WasmEngine"]
