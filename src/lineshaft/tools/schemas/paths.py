"""Arguments that name files: their types, and their places in a schema."""

from collections.abc import Callable, Iterator
from typing import Annotated

import msgspec

from lineshaft.errors import ConfigError
from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve, subschemas

FILE = "workspace-path"
ENTRY = "workspace-entry"
_MOST_STEPS = 20_000


class Marked(msgspec.Struct, frozen=True):
    """Puts a `format` into the JSON Schema that pydantic makes."""

    format: str

    def __get_pydantic_json_schema__(
        self, core_schema: object, handler: Callable[[object], dict[str, object]]
    ) -> dict[str, object]:
        return {**handler(core_schema), "format": self.format}


WorkspacePath = Annotated[str, Marked(FILE)]
"""A path in the workspace, resolved before policy sees it; links are followed."""

EntryPath = Annotated[str, Marked(ENTRY)]
"""The same, except that a symbolic link at its end is meant itself: to delete, to move."""

ArgumentPlace = tuple[str, ...]


def places(schema: Schema) -> tuple[tuple[ArgumentPlace, ...], tuple[ArgumentPlace, ...]]:
    """Find the paths among the arguments that a schema describes.

    Args:
        schema: JSON Schema of the arguments.

    Returns:
        Where paths stand, and which of those are entries: keys from the top; `*` is any item of
        a list, or any value of an object.

    Raises:
        ConfigError: A path stands where policy could not find it.
    """
    marked = {id(part) for part in subschemas(schema) if part.get("format") in (FILE, ENTRY)}
    if not marked:
        return (), ()
    found: dict[ArgumentPlace, str] = {}
    for steps, (place, part, again) in enumerate(_walk(schema, schema, (), ())):
        if part.get("format") in (FILE, ENTRY):
            marked.discard(id(part))
            found.setdefault(place, str(part["format"]))
        if (again and _leads_to_path(part, schema)) or steps > _MOST_STEPS:
            where = ".".join(place) or "the arguments"
            raise ConfigError(
                f"a workspace path inside a type that contains itself (at {where})",
                hint="policy must find every path: make it a parameter of its own",
            )
    if marked:
        raise ConfigError(
            "a workspace path as the key of a dict, inside a tuple, or under a condition",
            hint="policy must find every path: use a parameter, a field or a list",
        )
    return tuple(found), tuple(place for place, kind in found.items() if kind == ENTRY)


def _walk(
    schema: Schema, root: Schema, place: ArgumentPlace, inside: tuple[object, ...]
) -> Iterator[tuple[ArgumentPlace, Schema, bool]]:
    """Yield every schema that arguments may have to fit, and whether it leads back to itself."""
    ref = schema.get("$ref")
    again = ref is not None and ref in inside
    yield place, schema, again
    if ref is not None and not again:
        yield from _walk(as_schema(resolve(ref, root)), root, place, (*inside, ref))
    for key in ("anyOf", "oneOf", "allOf"):
        for part in as_list(schema.get(key)):
            yield from _walk(as_schema(part), root, place, inside)
    for step, part in _children(schema):
        yield from _walk(as_schema(part), root, (*place, step), inside)


def _leads_to_path(schema: Schema, root: Schema) -> bool:
    waiting = [schema]
    seen: set[object] = set()
    while waiting:
        for part in subschemas(waiting.pop()):
            if part.get("format") in (FILE, ENTRY):
                return True
            ref = part.get("$ref")
            if isinstance(ref, str) and ref not in seen:
                seen.add(ref)
                waiting.append(as_schema(resolve(ref, root)))
    return False


def _children(schema: Schema) -> Iterator[tuple[str, object]]:
    yield from as_schema(schema.get("properties")).items()
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield "*", schema[key]
