"""Annotations as pydantic should read them.

Before Python 3.12 it cannot read `typing.TypedDict`, so the same types are made anew. It checks the
items of an `Iterable` when they are taken, which for an argument is too late.
"""

import sys
import typing
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Annotated, Literal, NotRequired, Required, Union, cast, get_args, get_origin

import typing_extensions

from lineshaft.errors import ConfigError

_make = cast("Callable[[str, dict[str, object]], type]", typing_extensions.TypedDict)


def modern(annotation: object) -> object:
    """Return an annotation in which every `TypedDict` is one that pydantic can read."""
    return _modern(annotation, (), whole=False)


def whole(annotation: object) -> object:
    """Return the annotation of an argument, as `modern` does, with a list for each `Iterable`."""
    return _modern(annotation, (), whole=True)


def _modern(annotation: object, inside: tuple[object, ...], *, whole: bool) -> object:
    if typing.is_typeddict(cast("type", annotation)):
        return _remade(cast("type", annotation), inside, whole=whole)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal or not arguments:
        return annotation
    if origin is Annotated:
        bare, *notes = arguments
        return cast("dict[object, object]", Annotated)[(_modern(bare, inside, whole=whole), *notes)]
    made = tuple(_modern(argument, inside, whole=whole) for argument in arguments)
    if whole and origin is Iterable:
        origin = list
    elif all(new is old for new, old in zip(made, arguments, strict=True)):
        return annotation
    if origin in (Union, UnionType):
        return Union[made]  # noqa: UP007  made at run time
    return cast("dict[object, object]", origin)[made[0] if len(made) == 1 else made]


def _remade(old: type, inside: tuple[object, ...], *, whole: bool) -> type:
    if sys.version_info >= (3, 12) or type(old).__module__ != "typing":
        return old
    if old in inside:
        raise ConfigError(
            f"typing.TypedDict {old.__name__!r} contains itself, which needs Python 3.12",
            hint="take TypedDict from typing_extensions",
        )
    said = cast("frozenset[str]", getattr(old, "__required_keys__", ()))
    fields: dict[str, object] = {}
    needed: set[str] = set()
    for name, hint in typing.get_type_hints(old, include_extras=True).items():
        bare, is_required = _field(hint, is_required=name in said)
        fields[name] = _modern(bare, (*inside, old), whole=whole)
        if is_required:
            needed.add(name)
    required = frozenset(needed)
    new = _make(old.__name__, fields)
    # Not by `Required`: `typing` takes `int | str` for `str | int` there, if it has seen that.
    new.__required_keys__, new.__optional_keys__ = required, frozenset(fields) - required  # pyright: ignore[reportAttributeAccessIssue]  read by pydantic
    new.__doc__, new.__module__ = old.__doc__, old.__module__
    return new


def _field(hint: object, *, is_required: bool) -> tuple[object, bool]:
    """Return the type of a field, and whether the field is required.

    Args:
        hint: The annotation of the field.
        is_required: What the class says, which cannot read annotations that are text.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired):
        return arguments[0], origin is Required
    if origin is not Annotated:
        return hint, is_required
    inner, *notes = arguments
    bare, is_required = _field(inner, is_required=is_required)
    if bare is inner:
        return hint, is_required
    return cast("dict[object, object]", Annotated)[(bare, *notes)], is_required
