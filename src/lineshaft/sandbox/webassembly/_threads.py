"""The threads that guests run in: deep enough for the stack that wasmtime was promised.

On a thread with a smaller stack a deep recursion of a script would end the host, so the thread
itself checks its real size before it calls a guest.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import cache

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly._forks import in_each_child

WASM_STACK = (5 << 20) if sys.platform == "win32" else (64 << 20)
"""The part for a guest's code. Windows commits the memory of each thread's stack."""

THREAD_STACK = WASM_STACK + ((3 << 20) if sys.platform == "win32" else (8 << 20))
"""The stack of a thread: the host's functions need some of it too."""


class _Starting:
    """The lock around the start of a thread: the stack size is a setting of the whole process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def renew(self) -> None:
        """Forget a thread that held it in the process that this one was forked from."""
        self.lock = threading.Lock()


_STARTING = _Starting()

in_each_child(_STARTING.renew)


def start_deep(work: Callable[[], None], name: str) -> threading.Thread:
    """Start a thread with a deep stack.

    Args:
        work: Its work, which calls `check_depth` before it calls a guest.
        name: The thread's name.
    """
    thread = threading.Thread(target=work, name=name, daemon=True)
    with _STARTING.lock:
        before = threading.stack_size(THREAD_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(before)
    return thread


def check_depth() -> None:
    """Make sure that this thread may call a guest.

    Raises:
        WasmUnavailable: Its stack is too small, or it is the main thread.
    """
    if threading.current_thread() is threading.main_thread():
        raise WasmUnavailable("a guest never runs in the main thread")
    size = _stack_size()
    if size < THREAD_STACK - (1 << 20):
        raise WasmUnavailable(
            f"a thread got a stack of {size:,} bytes where {THREAD_STACK:,} were asked for",
            hint="other code sets threading.stack_size, or the machine limits memory",
        )


@cache
def _library() -> ctypes.CDLL:
    """Return the functions of this process: opening them takes longer than to call one."""
    return ctypes.CDLL(None)


def _stack_size() -> int:
    if sys.platform == "win32":
        low, high = ctypes.c_size_t(), ctypes.c_size_t()
        limits = ctypes.windll.kernel32.GetCurrentThreadStackLimits
        limits(ctypes.byref(low), ctypes.byref(high))
        return high.value - low.value
    library = _library()
    this = ctypes.CFUNCTYPE(ctypes.c_void_p)(("pthread_self", library))()
    if sys.platform == "darwin":
        asked = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)
        return int(asked(("pthread_get_stacksize_np", library))(this))
    return _stack_size_of(library, this)


def _stack_size_of(library: ctypes.CDLL, thread: int) -> int:
    attributes = ctypes.create_string_buffer(256)  # pthread_attr_t has 56 or 64
    pointers = (ctypes.c_void_p,)
    get = ctypes.CFUNCTYPE(ctypes.c_int, *pointers * 2)(("pthread_getattr_np", library))
    if get(thread, ctypes.addressof(attributes)):
        return 0
    low, size = ctypes.c_size_t(), ctypes.c_size_t()
    try:
        read = ctypes.CFUNCTYPE(ctypes.c_int, *pointers * 3)(("pthread_attr_getstack", library))
        read(ctypes.addressof(attributes), ctypes.addressof(low), ctypes.addressof(size))
    finally:
        drop = ctypes.CFUNCTYPE(ctypes.c_int, *pointers)(("pthread_attr_destroy", library))
        drop(ctypes.addressof(attributes))
    return size.value
