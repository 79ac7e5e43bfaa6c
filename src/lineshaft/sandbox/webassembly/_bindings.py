"""The part of wasmtime that its Python package keeps private, and nothing else of it.

The package's own host functions mix up the exceptions of parallel runs and end the process on some
of them, and they take most of the time of a call; it has no callback for the epoch and no setting
for deep stacks. So these are called here, in the version that is pinned, through ctypes.

Callbacks never raise. The memory that they receive is wasmtime's; a string is copied into Python
only once its size is known to be within bounds.
"""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly._errors import GuestTooLarge
from lineshaft.sandbox.webassembly._library import component, library, private, wasmtime

VERSION = "50.0.1"
"""The one version of wasmtime whose private parts are known here."""

_VALUE = ctypes.sizeof(private.wasmtime_component_val_t)
_OF = private.wasmtime_component_val_t.of.offset
_ENTRY = ctypes.sizeof(private.wasmtime_component_valrecord_entry_t)

_KIND_U8: int = library.WASMTIME_COMPONENT_U8.value
_KIND_U32: int = library.WASMTIME_COMPONENT_U32.value
_KIND_U64: int = library.WASMTIME_COMPONENT_U64.value
_KIND_STRING: int = library.WASMTIME_COMPONENT_STRING.value
_KIND_LIST: int = library.WASMTIME_COMPONENT_LIST.value
_KIND_RECORD: int = library.WASMTIME_COMPONENT_RECORD.value
_KIND_TUPLE: int = library.WASMTIME_COMPONENT_TUPLE.value
_KIND_OPTION: int = library.WASMTIME_COMPONENT_OPTION.value
_KIND_RESULT: int = library.WASMTIME_COMPONENT_RESULT.value
_KIND_RESOURCE: int = library.WASMTIME_COMPONENT_RESOURCE.value

_Type = Any  # ctypes has no name for what a prototype may hold
_Pair = ctypes.c_size_t * 2
_size = ctypes.c_size_t
_pointer = ctypes.c_void_p


def _foreign(name: str, result: _Type, *arguments: _Type) -> Callable[..., Any]:
    """Return a function of the library, with a prototype of our own."""
    try:
        return ctypes.CFUNCTYPE(result, *arguments)((name, cast("ctypes.CDLL", library.dll)))
    except AttributeError as error:
        raise WasmUnavailable(f"wasmtime lacks the function {name!r}") from error


def _installed() -> str:
    """Return the version of wasmtime; its metadata are read only where it is another one."""
    folder = Path(wasmtime.__file__).parent
    if (folder.parent / f"wasmtime-{VERSION}.dist-info").is_dir():
        return VERSION
    from importlib.metadata import version  # noqa: PLC0415  slow

    return version("wasmtime")


if (_other := _installed()) != VERSION:
    message = f"wasmtime {_other} is installed, but this needs {VERSION} exactly"
    raise WasmUnavailable(message, hint=f"install wasmtime=={VERSION}")

_FunctionCallback = ctypes.CFUNCTYPE(_size, _size, _size, _size, _size, _size, _size, _size)
_EpochCallback = ctypes.CFUNCTYPE(_size, _size, _size, _size, _size)
_error_new = _foreign("wasmtime_error_new", _pointer, ctypes.c_char_p)
_error_delete = _foreign("wasmtime_error_delete", None, _pointer)
_error_message = _foreign("wasmtime_error_message", None, _pointer, _pointer)
_bytes_new = _foreign("wasm_byte_vec_new", None, _pointer, _size, ctypes.c_char_p)
_bytes_delete = _foreign("wasm_byte_vec_delete", None, _pointer)
_list_new = _foreign("wasmtime_component_vallist_new", None, _pointer, _size, _pointer)
_tuple_new = _foreign("wasmtime_component_valtuple_new", None, _pointer, _size, _pointer)
_record_new = _foreign("wasmtime_component_valrecord_new", None, _pointer, _size, _pointer)
_value_new = _foreign("wasmtime_component_val_new", _pointer, _pointer)
_value_delete = _foreign("wasmtime_component_val_delete", None, _pointer)
_resource_new = _foreign(
    "wasmtime_component_resource_host_new",
    _pointer,
    ctypes.c_bool,
    ctypes.c_uint32,
    ctypes.c_uint32,
)
_resource_delete = _foreign("wasmtime_component_resource_host_delete", None, _pointer)
_resource_any = _foreign(
    "wasmtime_component_resource_host_to_any", _pointer, _pointer, _pointer, _pointer
)
_resource_drop = _foreign("wasmtime_component_resource_any_drop", _pointer, _pointer, _pointer)
_function_add = _foreign(
    "wasmtime_component_linker_instance_add_func",
    _pointer,
    _pointer,
    ctypes.c_char_p,
    _size,
    _FunctionCallback,
    _size,
    _pointer,
)
_function_call = _foreign(
    "wasmtime_component_func_call",
    _pointer,
    _pointer,
    _pointer,
    _pointer,
    _size,
    _pointer,
    _size,
)
_function_return = _foreign("wasmtime_component_func_post_return", _pointer, _pointer, _pointer)
_epoch_callback = _foreign(
    "wasmtime_store_epoch_deadline_callback", None, _pointer, _EpochCallback, _pointer, _pointer
)
_stack_size = _foreign("wasmtime_config_async_stack_size_set", None, _pointer, _size)


def set_stack(config: wasmtime.Config, size: int) -> None:
    """Let code of a guest use this much of a thread's stack."""
    _stack_size(config.ptr(), size + (1 << 20))  # wasmtime aborts where it is not the larger one
    config.max_wasm_stack = size


class Values:
    """The arguments of one call out of a guest, and the place of its result."""

    __slots__ = ("_arguments", "_context", "_result")

    def __init__(self, context: int, arguments: int, result: int) -> None:
        self._context = context
        self._arguments = arguments
        self._result = result

    def text(self, index: int, bound: int) -> str:
        """Return an argument that is a string.

        Raises:
            GuestTooLarge: It has more bytes than the bound.
        """
        size, data = _Pair.from_address(self._arguments + index * _VALUE + _OF)
        if size > bound:
            raise GuestTooLarge(f"{size:,} bytes of text in one call, the bound is {bound:,}")
        return ctypes.string_at(data, size).decode()

    def number(self, index: int) -> float:
        """Return an argument that is a floating-point number."""
        return ctypes.c_double.from_address(self._arguments + index * _VALUE + _OF).value

    def natural(self, index: int) -> int:
        """Return an argument that is an unsigned integer of 64 bits."""
        return ctypes.c_uint64.from_address(self._arguments + index * _VALUE + _OF).value

    def data(self, index: int, bound: int) -> bytes:
        """Return an argument that is a list of bytes, its first ones up to the bound."""
        size, data = _Pair.from_address(self._arguments + index * _VALUE + _OF)
        return ctypes.string_at(data, min(size, bound) * _VALUE)[_OF::_VALUE] if size else b""

    def let_go(self, index: int) -> None:
        """Give back a resource that the guest lent as an argument: a call must not end with it."""
        lent = _size.from_address(self._arguments + index * _VALUE + _OF).value
        failed = _resource_drop(self._context, lent)
        if failed:
            raise wasmtime.WasmtimeError(_told(failed))

    def give_text(self, text: str, bound: int) -> None:
        """Answer with a string.

        Raises:
            GuestTooLarge: It has more bytes than the bound.
        """
        data = text.encode()
        if len(data) > bound:
            raise GuestTooLarge(f"{len(data):,} bytes of text in an answer, the bound is {bound:,}")
        _put_text(self._result, data)

    def give_natural(self, number: int) -> None:
        """Answer with an unsigned integer of 64 bits."""
        _put_natural(self._result, number)

    def give_data(self, data: bytes) -> None:
        """Answer with a list of bytes."""
        many = len(data)
        values = bytearray(many * _VALUE)
        values[0::_VALUE] = bytes((_KIND_U8,)) * many
        values[_OF::_VALUE] = data
        _put(self._result, _KIND_LIST, _list_new, many, values)

    def give_pairs(self, pairs: tuple[tuple[str, str], ...]) -> None:
        """Answer with a list of pairs of strings."""
        values = bytearray(len(pairs) * _VALUE)
        start = _address(values)
        for index, pair in enumerate(pairs):
            both = bytearray(2 * _VALUE)
            _put_text(_address(both), pair[0].encode())
            _put_text(_address(both) + _VALUE, pair[1].encode())
            _put(start + index * _VALUE, _KIND_TUPLE, _tuple_new, 2, both)
        _put(self._result, _KIND_LIST, _list_new, len(pairs), values)

    def give_moment(self, nanoseconds: int) -> None:
        """Answer with a moment: a record of seconds and nanoseconds."""
        seconds, rest = divmod(nanoseconds, 1_000_000_000)
        entries = bytearray(2 * _ENTRY)
        start = _address(entries)
        _bytes_new(start, 7, b"seconds")
        _put_natural(start + _ENTRY - _VALUE, seconds)
        _bytes_new(start + _ENTRY, 11, b"nanoseconds")
        ctypes.c_uint8.from_address(start + 2 * _ENTRY - _VALUE).value = _KIND_U32
        ctypes.c_uint32.from_address(start + 2 * _ENTRY - _VALUE + _OF).value = rest
        _put(self._result, _KIND_RECORD, _record_new, 2, entries)

    def give_none(self) -> None:
        """Answer with an option that is empty."""
        ctypes.c_uint8.from_address(self._result).value = _KIND_OPTION
        _size.from_address(self._result + _OF).value = 0

    def give_done(self, number: int | None = None) -> None:
        """Answer with a result that is well, and the number in it."""
        ctypes.c_uint8.from_address(self._result).value = _KIND_RESULT
        ctypes.c_bool.from_address(self._result + _OF).value = True
        held = 0
        if number is not None:
            value = bytearray(_VALUE)
            _put_natural(_address(value), number)
            held = _value_new(_address(value))
        _size.from_address(self._result + _OF + 8).value = held

    def give_resource(self, kind: int) -> None:
        """Answer with a resource of the host, which the guest owns from now on."""
        host = _resource_new(True, 1, kind)  # noqa: FBT003  a prototype has no names
        held = _size()
        try:
            failed = _resource_any(self._context, host, ctypes.addressof(held))
        finally:
            _resource_delete(host)
        if failed:
            raise wasmtime.WasmtimeError(_told(failed))
        ctypes.c_uint8.from_address(self._result).value = _KIND_RESOURCE
        _size.from_address(self._result + _OF).value = held.value


def _put(result: int, kind: int, new: Callable[..., Any], many: int, values: bytearray) -> None:
    """Hand values over: wasmtime takes them out of the array."""
    ctypes.c_uint8.from_address(result).value = kind
    new(result + _OF, many, _address(values))


def _put_text(result: int, data: bytes) -> None:
    ctypes.c_uint8.from_address(result).value = _KIND_STRING
    _bytes_new(result + _OF, len(data), data)


def _put_natural(result: int, number: int) -> None:
    ctypes.c_uint8.from_address(result).value = _KIND_U64
    ctypes.c_uint64.from_address(result + _OF).value = number


def _address(buffer: bytearray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer)) if buffer else 0


def function(answer: Callable[[Values], None], refused: Callable[[BaseException], None]) -> object:
    """Return a callback that wasmtime calls in the thread of the guest.

    Args:
        answer: Reads the arguments and gives the result.
        refused: Takes the exception of `answer`; the guest ends then.
    """

    def callback(*given: int) -> int:
        try:
            answer(Values(given[1], given[3], given[5]))
        except BaseException as error:  # noqa: BLE001  none may reach ctypes
            return _stopped(refused, error)
        return 0

    return _FunctionCallback(callback)


def epoch(must_end: Callable[[], bool], refused: Callable[[BaseException], None]) -> object:
    """Return a callback for the moments at which a computing guest can be ended."""

    def callback(_context: int, _data: int, delta: int, kind: int) -> int:
        try:
            if must_end():
                return _error_new(b"stopped") or 0
            ctypes.c_uint64.from_address(delta).value = 1
            ctypes.c_uint8.from_address(kind).value = 0
        except BaseException as error:  # noqa: BLE001  one in here has corrupted memory
            return _stopped(refused, error)
        return 0

    return _EpochCallback(callback)


def _stopped(refused: Callable[[BaseException], None], error: BaseException) -> int:
    with suppress(BaseException):  # a callback never raises
        refused(error)
    return _error_new(b"stopped") or 0


def add_function(place: component.LinkerInstance, name: str, callback: object) -> None:
    """Define a function of an interface; the callback must live as long as the place."""
    encoded = name.encode()
    pointer = ctypes.cast(place.ptr(), _pointer)
    failed = _function_add(pointer, encoded, len(encoded), callback, 0, None)
    if failed:
        raise wasmtime.WasmtimeError(_told(failed))


def set_epoch(store: wasmtime.Store, callback: object) -> None:
    """Make a store ask the callback at each change of the epoch; the callback must outlive it."""
    _epoch_callback(ctypes.cast(store.ptr(), _pointer), callback, None, None)
    store.set_epoch_deadline(1)


def call(store: wasmtime.Store, found: component.Func, order: str, bound: int) -> tuple[str, str]:
    """Call a function of a guest that takes a string and returns one.

    Returns:
        The answer, and an empty text; or an empty answer, and wasmtime's words for its end.

    Raises:
        GuestTooLarge: The answer has more bytes than the bound.
    """
    context = ctypes.cast(cast("Any", store)._context(), _pointer)  # noqa: SLF001  no other way
    pointer = ctypes.addressof(cast("Any", found)._func)  # noqa: SLF001  the same
    given = bytearray(_VALUE)
    gotten = bytearray(_VALUE)
    _put_text(_address(given), order.encode())
    try:
        failed = _function_call(pointer, context, _address(given), 1, _address(gotten), 1)
    finally:
        _value_delete(_address(given))
    if failed:
        return "", _told(failed) or "unknown"
    try:
        answer = Values(0, _address(gotten), 0).text(0, bound)
    finally:
        _value_delete(_address(gotten))
    failed = _function_return(pointer, context)
    return (answer, "") if not failed else ("", _told(failed) or "unknown")


def _told(error: int) -> str:
    """Return the text of an error and let go of the error."""
    text = _Pair()
    _error_message(error, ctypes.addressof(text))
    message = ctypes.string_at(text[1], text[0]).decode(errors="replace")
    _bytes_delete(ctypes.addressof(text))
    _error_delete(error)
    return message
