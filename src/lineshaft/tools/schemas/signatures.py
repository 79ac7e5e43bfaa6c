"""Reading a Python function: its parameters, types and docstring."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import cast, get_args, get_type_hints

from msgspec import field

from lineshaft.errors import ConfigError
from lineshaft.values import Context, Struct

Function = Callable[..., object]

_UNNAMED = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only; take the `/` out of the signature",
    inspect.Parameter.VAR_POSITIONAL: "`*args`; name each parameter",
    inspect.Parameter.VAR_KEYWORD: "`**kwargs`; name each parameter, or use Tool.from_schema",
}


class Parameter(Struct, frozen=True):
    """One parameter that callers give."""

    name: str
    type: object
    default: object = inspect.Parameter.empty
    by_position: bool = True
    """It may be given by position."""

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty


class Signature(Struct, frozen=True):
    """The description in a function's own text."""

    parameters: tuple[Parameter, ...]
    context: tuple[str, ...]
    """Parameters that take the `Context`."""

    returns: object
    """Type of the result; `object` where not annotated."""

    description: str = ""
    described: Mapping[str, str] = field(default_factory=dict[str, str])
    """What its annotation or the docstring says of each parameter."""

    result: str = ""
    """What its annotation or the docstring says of the result."""


def read_signature(function: Function, *, method: bool, name: str) -> Signature:
    """Return the facts in a function's signature and docstring.

    Args:
        function: Sync or async; a method too.
        method: Whether its first parameter is the object, which callers do not give.
        name: For messages.

    Raises:
        ConfigError: Callers could not give its arguments by name, or a type cannot be found.
    """
    target = target_of(function)
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise ConfigError(f"{name}() yields; a tool must return", hint="return a list")
    parameters = list(_parameters(function, name))
    hints = type_hints(function, name)
    kept: list[Parameter] = []
    context: list[str] = []
    for parameter in parameters[1:] if method else parameters:
        kind = hints.get(parameter.name, object)
        if is_context(kind):
            context.append(parameter.name)
            continue
        if parameter.kind in _UNNAMED:
            raise ConfigError(
                f"parameter {parameter.name!r} of {name}() is {_UNNAMED[parameter.kind]}"
            )
        by_position = parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        kept.append(Parameter(parameter.name, kind, parameter.default, by_position))
    about, described, result = _documented(target)
    noted = {p.name: text for p in kept if (text := _annotated_text(p.type))}
    return Signature(
        parameters=tuple(kept),
        context=tuple(context),
        returns=hints.get("return", object),
        description=about,
        described={**described, **noted},
        result=_annotated_text(hints.get("return")) or result,
    )


def _annotated_text(annotation: object) -> str:
    """Return the text in `Annotated[..., "text"]`, or in a `Doc` there; empty where there is none.

    What stands at the parameter itself counts before what the docstring says of it.
    """
    notes: tuple[object, ...] = getattr(annotation, "__metadata__", ())
    texts = (getattr(note, "documentation", note) for note in notes)
    return next((_one_line(text) for text in texts if isinstance(text, str)), "")


def type_hints(function: Function, name: str) -> dict[str, object]:
    """Return the annotations of a function as types.

    Raises:
        ConfigError: One of them names something that cannot be found.
    """
    try:
        return get_type_hints(target_of(function), include_extras=True)
    except NameError as error:
        raise ConfigError(
            f"the annotations of {name}() name {error.name!r}, which is not there",
            hint="define or import it at the top of the module, not under TYPE_CHECKING",
        ) from error
    except Exception as error:
        raise ConfigError(f"the annotations of {name}() cannot be read: {error}") from error


def is_context(annotation: object) -> bool:
    """Return whether a parameter of this type is filled in with the `Context`."""
    return annotation is Context or Context in get_args(annotation)


def own_name(function: object) -> str | None:
    """Return the name that a function was defined with, if it has one."""
    name = getattr(function, "__name__", None) or getattr(target_of(function), "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        return None
    return type(function).__name__ if name == "__call__" else name


def target_of(function: object) -> Function:
    """Return the plain function below partials, wrappers and callable objects."""
    function = _called(function)
    while (inner := inspect.unwrap(cast("Function", function))) is not function:
        function = _called(inner)
    return inner


def is_awaited(function: object) -> bool:
    """Return whether a call of a function gives a coroutine at once.

    What it wraps does not count: a sync wrapper around an async function may run that to its end.
    """
    function = _called(function)
    if isinstance(function, staticmethod):
        function = cast("staticmethod[..., object]", function).__func__
    return inspect.iscoroutinefunction(function)


def _called(function: object) -> object:
    """Return what a call of a partial or of a callable object calls."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    return function if inspect.isroutine(function) else type(function).__call__


def _parameters(function: Function, name: str) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"{name}() has no signature that Python can read",
            hint="write a small function around it, with annotations",
        ) from error


def _documented(function: Function) -> tuple[str, dict[str, str], str]:
    """Return a Google docstring's description, parameters and result."""
    text = inspect.getdoc(function) or ""
    if not text or text == type.__call__.__doc__:  # Python's own, of an object without one
        return "", {}, ""
    from docstring_parser import (  # noqa: PLC0415  slow to import, needed once there are tools
        DocstringStyle,
        ParseError,
        parse,
    )

    try:
        parsed = parse(text, style=DocstringStyle.GOOGLE)
    except ParseError:
        return text, {}, ""
    described = {p.arg_name: _one_line(p.description or "") for p in parsed.params}
    result = _one_line((parsed.returns.description or "") if parsed.returns else "")
    return (parsed.description or "").strip(), described, result


def _one_line(text: str) -> str:
    return " ".join(text.split())
