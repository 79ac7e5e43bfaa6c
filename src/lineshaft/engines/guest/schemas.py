"""The JSON Schema of a type, for agents whose result type is given at the call."""

import types
import typing
from collections.abc import Mapping
from typing import Any, cast

_ATOMS: Mapping[object, dict[str, object]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_UNIONS = (typing.Union, types.UnionType)
_WRAPPED = tuple(
    each
    for each in (getattr(typing, name, None) for name in ("Required", "NotRequired", "ReadOnly"))
    if each is not None
)
_DEPTH = 50


def schema_of(kind: object, *, _left: int = _DEPTH) -> object:
    """Return the JSON Schema of a type; a value that is no type is returned as it is.

    Args:
        kind: `str`, `int`, `float`, `bool`, `None`, `Any`, `Literal`, `list`, `dict`, a union,
            `Annotated` with a text, a TypedDict, or a JSON Schema.

    Raises:
        TypeError: It is another type.
    """
    if isinstance(kind, Mapping):
        return cast("object", kind)
    if _left == 0:
        raise TypeError("the type contains itself, or is nested too deeply")
    try:
        if kind in _ATOMS:
            return _ATOMS[kind]
    except TypeError:
        return kind  # a list, say: no type
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    left = _left - 1
    if origin is typing.Literal:
        return {"enum": list(inside)}
    if origin in _UNIONS:
        return {"anyOf": [schema_of(each, _left=left) for each in inside]}
    if origin is typing.Annotated:
        texts = [each for each in inside[1:] if isinstance(each, str)]
        about = {"description": texts[0]} if texts else {}
        return {**cast("dict[str, object]", schema_of(inside[0], _left=left)), **about}
    if origin in _WRAPPED:
        return schema_of(inside[0], _left=left)
    if origin is list:
        return {"type": "array", "items": schema_of(inside[0], _left=left)}
    if origin is dict and inside[0] is str:
        return {"type": "object", "additionalProperties": schema_of(inside[1], _left=left)}
    if typing.is_typeddict(kind):
        return _record(cast("type", kind), left)
    if isinstance(kind, type) or origin is not None:
        raise TypeError(
            f"{getattr(kind, '__name__', kind)!s} has no JSON Schema: use str, int, float, bool,"
            " None, Literal, list, dict[str, ...], a union, a TypedDict, or a JSON Schema"
        )
    return kind


def _record(kind: type, left: int) -> dict[str, object]:
    members = typing.get_type_hints(kind, include_extras=True)
    required = cast("frozenset[str]", vars(kind)["__required_keys__"])
    about = {"description": kind.__doc__} if kind.__doc__ else {}
    return {
        "type": "object",
        **about,
        "properties": {name: schema_of(each, _left=left) for name, each in members.items()},
        "required": [name for name in members if name in required],
        "additionalProperties": False,
    }
