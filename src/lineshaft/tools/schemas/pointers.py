"""Reading JSON Schemas: references, and the parts that a schema is made of."""

from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import unquote

Schema = Mapping[str, object]

KEYED = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords whose value holds schemas by name."""

DATA = frozenset({"const", "enum", "default", "examples", "required", "dependentRequired"})
"""Keywords whose value is data, even where it looks like a schema."""


def resolve(ref: object, root: Schema) -> object:
    """Return what a reference within a schema leads to; None where it leads nowhere.

    Args:
        ref: Value of `$ref`; only `#` and JSON pointers are followed, nothing is fetched.
        root: The whole schema.
    """
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    found: object = root
    for part in ref.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = as_schema(cast("object", found)).get(key)
        else:
            items = as_list(cast("object", found))
            found = items[int(key)] if key.isdecimal() and int(key) < len(items) else None
    return found


def as_list(value: object) -> list[object]:
    """Return a list as it is, and an empty one for anything else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def as_schema(value: object) -> Schema:
    """Return an object as it is, and an empty one, which allows all, for anything else."""
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def subschemas(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and every schema written inside it, references not followed."""
    waiting: list[object] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(cast("list[object]", value))
        elif isinstance(value, Mapping):
            found = cast("Schema", value)
            yield found
            for key, part in found.items():
                if key in KEYED:
                    waiting.extend(as_schema(part).values())
                elif key not in DATA:
                    waiting.append(part)
