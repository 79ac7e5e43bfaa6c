"""Types of arguments and results, free of any language: between JSON Schemas and stubs."""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import field

from lineshaft.values import Struct, ToolSpec


class Atom(Struct, frozen=True):
    """A type without parts."""

    name: Literal["any", "none", "bool", "int", "float", "str"]


class LiteralOf(Struct, frozen=True):
    """One of some values, all of them texts, integers or booleans."""

    values: tuple[str | int, ...]


class ListOf(Struct, frozen=True):
    """A list of any length."""

    item: "Shape"


class TupleOf(Struct, frozen=True):
    """A list whose places have types of their own."""

    items: "tuple[Shape, ...]"


class DictOf(Struct, frozen=True):
    """A dict whose keys are not known beforehand."""

    value: "Shape"


class Named(Struct, frozen=True):
    """A record, by its name."""

    record: str


class OneOf(Struct, frozen=True):
    """Alternatives; None comes last."""

    options: "tuple[Shape, ...]"


Shape = Atom | LiteralOf | ListOf | TupleOf | DictOf | Named | OneOf

ANY: Final = Atom("any")
NONE: Final = Atom("none")


class Missing:
    """A default that is missing, or that cannot be written down."""


MISSING: Final = Missing()


class TypedField(Struct, frozen=True):
    """A parameter, or a key of a record."""

    name: str
    shape: Shape
    required: bool = True
    default: object = MISSING
    about: str = ""


class RecordType(Struct, frozen=True):
    """A dict with known keys."""

    name: str
    fields: tuple[TypedField, ...]
    more: Shape | None = None
    """Of further keys; None where none are told of."""

    about: str = ""


class Routine(Struct, frozen=True):
    """A tool as scripts see it."""

    spec: ToolSpec
    name: str
    """In scripts, without the namespace."""

    namespace: str
    """In scripts; empty where there is none."""

    parameters: tuple[TypedField, ...]
    more: Shape | None
    """Of arguments with further names; None where there are none."""

    result: Shape


class TypedCatalogue(Struct):
    """Tools, and the records that their types name."""

    routines: list[Routine] = field(default_factory=list[Routine])
    records: dict[str, RecordType] = field(default_factory=dict[str, RecordType])

    def used_by(self, routines: list[Routine]) -> list[RecordType]:
        """Return the records that some tools need, each after those first met before it.

        Args:
            routines: The tools.
        """
        found: dict[str, RecordType] = {}
        waiting = [name for routine in routines for name in _names(_shapes_of(routine))]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = self.records[name]
                waiting.extend(_names(_parts_of(found[name])))
        return list(found.values())


def union(options: list[Shape]) -> Shape:
    """Return the type of values that fit one of several types.

    Args:
        options: At least one.
    """
    flat: dict[Shape, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, OneOf) else (option,)))
    if ANY in flat:
        return ANY
    if NONE in flat:
        del flat[NONE]
        flat[NONE] = None
    return OneOf(tuple(flat)) if len(flat) > 1 else next(iter(flat), ANY)


def _shapes_of(routine: Routine) -> Iterator[Shape]:
    yield from (parameter.shape for parameter in routine.parameters)
    if routine.more is not None:
        yield routine.more
    yield routine.result


def _parts_of(record: RecordType) -> Iterator[Shape]:
    yield from (part.shape for part in record.fields)
    if record.more is not None:
        yield record.more


def _names(shapes: Iterator[Shape]) -> Iterator[str]:
    for shape in shapes:
        match shape:
            case Named(name):
                yield name
            case ListOf(part) | DictOf(part):
                yield from _names(iter((part,)))
            case TupleOf(parts) | OneOf(parts):
                yield from _names(iter(parts))
            case _:
                pass
