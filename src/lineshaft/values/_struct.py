"""The base of value types: made in C, and a dataclass for those that ask."""

import dataclasses
import inspect
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast, dataclass_transform

import msgspec

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter
    from pydantic_core import CoreSchema

if sys.version_info >= (3, 14):
    from annotationlib import Format, get_annotations

    def _annotations(kind: type) -> dict[str, Any]:
        return get_annotations(kind, format=Format.FORWARDREF)
else:
    _annotations = inspect.get_annotations


class _OfDataclass:
    """An attribute of the dataclass that a struct is taken for, which is made when it is asked."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _: object, owner: type["Struct"]) -> object:
        return getattr(_dataclass(owner), self._name)


class _StructMeta(msgspec.StructMeta):
    """Tells a signature also where annotations name what only a type checker imports."""

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(_dataclass(self))


@dataclass_transform(field_specifiers=(msgspec.field,))
class Struct(msgspec.Struct, metaclass=_StructMeta):
    """A value type.

    `dataclasses.fields`, `replace`, `asdict` and `is_dataclass` take it as they take a dataclass;
    so does `decode`. A frozen one is declared `class Name(Struct, frozen=True)`, and fields that
    are given by name alone with `kw_only=True`.
    """

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    else:
        __dataclass_fields__ = _OfDataclass("__dataclass_fields__")
        __dataclass_params__ = _OfDataclass("__dataclass_params__")

    __unshown__: ClassVar[frozenset[str]] = frozenset()
    """Fields that no text of it shows."""

    def __repr__(self) -> str:
        if not self.__unshown__:
            return super().__repr__()
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__qualname__}({fields})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return what rich shows of it."""
        shown = (name for name in self.__struct_fields__ if name not in self.__unshown__)
        return [(name, getattr(self, name)) for name in shown]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        """Let pydantic read one from a dict, as it reads a dataclass.

        It would make the object without its `__init__`, which a struct does not have.
        """
        from pydantic_core.core_schema import no_info_before_validator_function  # noqa: PLC0415  slow

        def read(data: object) -> object:
            return data if isinstance(data, cls) else _read(cls, data)

        return no_info_before_validator_function(read, handler(source))


def _read(kind: type[Struct], data: object) -> Struct:
    read = _reader(kind).validate_python(data)
    return kind(**{name: getattr(read, name) for name in kind.__struct_fields__})


@cache
def _reader(kind: type[Struct]) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter  # noqa: PLC0415  slow

    return TypeAdapter(_dataclass(kind))


@cache
def _dataclass(kind: type[Struct]) -> type:
    types: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        types |= _annotations(each)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    without = (msgspec.NODEFAULT,) * (len(names) - len(defaults))
    described = [
        (name, types[name], _described(kind, name, default))
        for name, default in zip(names, (*without, *defaults), strict=True)
    ]
    frozen = kind.__struct_config__.frozen
    module = {"__module__": kind.__module__}  # where the names in its annotations are found
    return dataclasses.make_dataclass(kind.__name__, described, frozen=frozen, namespace=module)


class _Made(msgspec.Struct):
    items: list[object] = msgspec.field(default_factory=list[object])


_FACTORY: Any = _Made.__struct_defaults__[0]


def _described(kind: type[Struct], name: str, default: Any) -> Any:  # noqa: ANN401  it may be any
    positional = set[str](cast("Any", kind).__match_args__)
    facts: Any = {"repr": name not in kind.__unshown__, "kw_only": name not in positional}
    if default is msgspec.NODEFAULT:
        return dataclasses.field(**facts)
    if isinstance(default, type(_FACTORY)):
        return dataclasses.field(default_factory=default.factory, **facts)
    return dataclasses.field(default=default, **facts)


def as_dict(value: Struct) -> dict[str, object]:
    """Return the fields by name, and so for the structs inside, as `dataclasses.asdict` does.

    What is no struct, list, tuple or dict is not copied.
    """
    return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}


def _plain(value: object) -> object:
    if isinstance(value, Struct):
        return as_dict(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in cast("dict[object, object]", value).items()}
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[object]", value)]
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in cast("tuple[object, ...]", value))
    return value
