"""The names in an object that a schema describes, from all parts of the schema."""

from collections.abc import Iterator

from msgspec import field

from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve
from lineshaft.values import Struct

_DEEPEST = 12


class Members(Struct):
    """The properties of an object."""

    properties: dict[str, object] = field(default_factory=dict[str, object])
    """Schema by name."""

    required: set[str] = field(default_factory=set[str])
    rest: object = None
    """Schema of further properties; None: none are allowed, or the schema does not say."""

    closed: bool = False
    """Whether the schema forbids further properties."""

    named: bool = False
    """Whether any part of the schema names properties."""

    @property
    def open(self) -> bool:
        """Whether further names may be given: the schema says so, or it names none at all."""
        return self.rest is not None or not (self.named or self.closed)


def members(schema: Schema, root: Schema) -> Members:
    """Return the properties that a schema and its parts name.

    Args:
        schema: Of an object; references, `allOf` and alternatives are looked into.
        root: The whole schema.

    Returns:
        All names; required are those that every alternative requires.
    """
    found = _members(schema, root, ())
    for name in sorted(found.required - found.properties.keys()):
        found.properties[name] = found.rest  # only known by name, but asked for
    return found


def _members(schema: Schema, root: Schema, inside: tuple[int, ...]) -> Members:
    found = Members()
    if id(schema) in inside or len(inside) >= _DEEPEST:
        return found
    inside = (*inside, id(schema))
    _own(schema, found)
    for part in _all_of(schema, root):
        _add(found, _members(part, root, inside), required=True)
    for alternatives in (schema.get("anyOf"), schema.get("oneOf")):
        options = [_members(as_schema(a), root, inside) for a in as_list(alternatives)]
        for option in options:
            _add(found, option, required=False)
        if options:
            required = options[0].required
            found.required |= required.intersection(*(option.required for option in options))
    for part in _conditional(schema):
        _add(found, _members(part, root, inside), required=False)
    return found


def _own(schema: Schema, found: Members) -> None:
    properties = as_schema(schema.get("properties"))
    found.named = "properties" in schema
    found.properties.update(properties)
    found.required.update(str(name) for name in as_list(schema.get("required")))
    patterns = as_schema(schema.get("patternProperties"))
    if patterns:
        found.rest = {"anyOf": list(patterns.values())}
    for key in ("additionalProperties", "unevaluatedProperties"):
        rest = schema.get(key)
        if rest is False:
            found.closed = True
        elif rest is not None:
            found.rest = {} if rest is True or patterns else rest


def _add(found: Members, other: Members, *, required: bool) -> None:
    for name, schema in other.properties.items():
        found.properties.setdefault(name, schema)
    if required:
        found.required |= other.required
    found.rest = other.rest if found.rest is None else found.rest
    found.closed |= other.closed
    found.named |= other.named


def _all_of(schema: Schema, root: Schema) -> Iterator[Schema]:
    if "$ref" in schema:
        yield as_schema(resolve(schema["$ref"], root))
    for part in as_list(schema.get("allOf")):
        yield as_schema(part)


def _conditional(schema: Schema) -> Iterator[Schema]:
    for key in ("if", "then", "else"):
        if key in schema:
            yield as_schema(schema[key])
    for part in as_schema(schema.get("dependentSchemas")).values():
        yield as_schema(part)
