"""JSON-like data into typed values: envelopes of our own formats, with their types beside them.

Strict: a key that is missing or that nothing has, and a value of another type, are errors that name
the place. Payloads, declared as `object`, stay what they are.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")

Decoder = Callable[[object], object]


class DecodeError(ValueError):
    """Data that is not of the type."""


def decode(kind: type[T], data: object) -> T:
    """Return data as a type.

    Args:
        kind: A dataclass, a scalar, or lists, tuples, mappings and unions of such; `object` is
            anything. A tuple may come as a list.
        data: As `json.loads` gives it.

    Raises:
        DecodeError: It is not of that type; it says where.
    """
    return cast("T", _decoder(kind)(data))


@cache
def _decoder(kind: Any) -> Decoder:  # noqa: ANN401  whatever an annotation may be
    origin, inner = get_origin(kind), get_args(kind)
    if kind is object or kind is Any:
        return lambda data: data
    if origin is Literal:
        return lambda data: data if data in inner else _refuse(data, kind)
    if origin in (Union, types.UnionType):
        return _union([_decoder(each) for each in inner], kind)
    if is_dataclass(kind):
        return _record(cast("type", kind))
    if origin in (tuple, list, Sequence):
        return _items(_decoder(inner[0]), tuple if origin is tuple else list)
    if origin in (dict, Mapping):
        return _members(_decoder(inner[1]))
    allowed = (
        (int, float) if kind is float else (type(None),) if kind in (None, type(None)) else (kind,)
    )
    return lambda data: data if type(data) in allowed else _refuse(data, kind)


def _refuse(data: object, kind: object) -> object:
    name = kind.__name__ if isinstance(kind, type) else str(kind)
    raise DecodeError(f"is {type(data).__name__}, not {name}")


def _union(decoders: Sequence[Decoder], kind: object) -> Decoder:
    def decoded(data: object) -> object:
        for each in decoders:
            try:
                return each(data)
            except DecodeError:
                continue
        return _refuse(data, kind)

    return decoded


def _items(decoder: Decoder, make: Callable[[list[object]], object]) -> Decoder:
    def decoded(data: object) -> object:
        if not isinstance(data, list | tuple):
            return _refuse(data, list)
        items = cast("Sequence[object]", data)
        return make([_at(f"[{number}]", decoder, item) for number, item in enumerate(items)])

    return decoded


def _members(decoder: Decoder) -> Decoder:
    def decoded(data: object) -> object:
        given = _table(data)
        return {name: _at(f".{name}", decoder, value) for name, value in given.items()}

    return decoded


def _record(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(kind) if field.init}
    needed = {
        field.name
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    }

    def decoded(data: object) -> object:
        given = _table(data)
        if strange := sorted(given.keys() - decoders.keys()):
            raise DecodeError(f".{strange[0]} is unknown")
        if missing := sorted(needed - given.keys()):
            raise DecodeError(f".{missing[0]} is missing")
        read = {name: _at(f".{name}", decoders[name], value) for name, value in given.items()}
        return kind(**read)

    return decoded


def _table(data: object) -> Mapping[str, object]:
    if not isinstance(data, Mapping):
        _refuse(data, dict)
    return cast("Mapping[str, object]", data)


def _at(place: str, decoder: Decoder, data: object) -> object:
    try:
        return decoder(data)
    except DecodeError as error:
        text = str(error)
        raise DecodeError(f"{place}{text}" if text[:1] in ".[" else f"{place} {text}") from None
