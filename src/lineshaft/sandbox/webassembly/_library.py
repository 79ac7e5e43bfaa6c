"""Import of wasmtime, or the reason why it does not work here."""

from lineshaft.errors import WasmUnavailable

try:
    import wasmtime
    from wasmtime import _bindings as private
    from wasmtime import _ffi as library
    from wasmtime import component
except (ImportError, OSError, RuntimeError) as error:  # its wheel for any platform refuses so
    message = f"wasmtime does not work on this machine: {error}"
    advice = "it runs on Linux, macOS and Windows, on x86-64 and ARM of 64 bits"
    raise WasmUnavailable(message, hint=advice) from error

__all__ = ["component", "library", "private", "wasmtime"]
