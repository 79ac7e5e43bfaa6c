"""Fields of arguments that a JSON Schema does not tell of, so that policy could not find them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.tools.schemas import Schema, as_list, as_schema, places

_DATA = frozenset({"cls", "default", "expected", "metadata", "serialization"})
"""Keys of a core schema that hold no schema of arguments."""


def refuse_hidden(core: object, schema: Schema, name: str) -> None:
    """Refuse types whose arguments policy could not find by the JSON Schema.

    Args:
        core: The schema of the arguments that pydantic checks by.
        schema: The JSON Schema made of it.
        name: The function's name, for the message.

    Raises:
        ConfigError: A field goes by several names, or a function makes the default of a path.
    """
    paths = {place[-1] for place in places(schema)[0]}
    for field, part in _fields(core):
        alias = part.get("validation_alias", field)
        if isinstance(alias, list):
            ways = cast("list[object]", alias)
            if len(ways) != 1 or len(way := as_list(ways[0])) != 1:
                raise ConfigError(
                    f"the field {field!r} in the arguments of {name}() goes by several names",
                    hint="policy must find every argument: give the field one alias",
                )
            alias = way[0]
        if alias in paths and "default_factory" in as_schema(part.get("schema")):
            raise ConfigError(
                f"the default of the path {field!r} in {name}() is made by a function",
                hint="policy must find every path: write the default down",
            )


def _fields(core: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the fields of all models, dataclasses and dicts in a core schema, by their names."""
    waiting: list[object] = [core]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list | tuple):
            waiting += cast("Sequence[object]", part)
        elif isinstance(part, dict):
            inner = cast("dict[str, object]", part)
            for name, each in _by_name(inner.get("fields")):
                yield name, as_schema(each)
            waiting += (value for key, value in inner.items() if key not in _DATA)


def _by_name(fields: object) -> Iterator[tuple[str, object]]:
    """Yield the fields of one type; a dataclass has a list of them, other types a dict."""
    yield from as_schema(fields).items()
    for each in as_list(fields):
        if name := as_schema(each).get("name"):
            yield str(name), each
