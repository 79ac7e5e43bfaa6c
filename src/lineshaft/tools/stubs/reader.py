"""Conversion of JSON Schemas to types that stubs can express."""

import builtins
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import cast

from lineshaft.tools._names import is_identifier, script_name
from lineshaft.tools.schemas import (
    Members,
    Schema,
    as_list,
    as_schema,
    members,
    resolve,
    subschemas,
)
from lineshaft.tools.stubs.shapes import (
    ANY,
    MISSING,
    NONE,
    Atom,
    DictOf,
    ListOf,
    LiteralOf,
    Named,
    RecordType,
    Routine,
    Shape,
    TupleOf,
    TypedCatalogue,
    TypedField,
    union,
)
from lineshaft.values import ToolSpec

WORDS = ("Any", "Literal", "Mapping", "NotRequired", "Sequence", "TypedDict")
"""Names that stubs import."""

_UNSEEN = ("title", "description", "default", "$defs", "definitions", "$schema", "$id")
"""Keywords that make no difference to whether two records are the same."""

_CLOSED = ("additionalProperties", False)

_MOST_STEPS = 3_000
_MOST_RECORDS = 60
_MOST_FIELDS = 200
_MOST_OPTIONS = 12
_MOST_CHOICES = 40
_LONGEST_CHOICES = 800
_DEEPEST = 12

_ATOMS: dict[str, Shape] = {
    "null": NONE,
    "boolean": Atom("bool"),
    "integer": Atom("int"),
    "number": Atom("float"),
    "string": Atom("str"),
}


def read_specs(
    specs: Iterable[ToolSpec], *, records: bool = True, observed: bool = False
) -> TypedCatalogue:
    """Return the types of tools.

    Args:
        specs: The tools.
        records: Whether objects get types with names, or are just dicts.
        observed: Whether results without a schema get their observed shape.
    """
    found = TypedCatalogue()
    specs = list(specs)
    taken = {*dir(builtins), *WORDS}
    for spec in specs:
        taken.update(script_name(spec.name).split("."))
    names = _Names(taken)
    for spec in specs:
        namespace, _, name = script_name(spec.name).rpartition(".")
        reader = _Reader(spec.input_schema, found.records, names, records_wanted=records)
        parameters, more = reader.parameters(_camel(name))
        result: Shape = ANY
        returns = spec.observed if observed and spec.output_schema is None else spec.output_schema
        if returns is not None:
            reader = _Reader(returns, found.records, names, records_wanted=records)
            title = str(returns.get("title", "")) or f"{name}_result"
            result = reader.shape(returns, _camel(title))
        found.routines.append(Routine(spec, name, namespace, parameters, more, result))
    return found


class _Names:
    """Gives records names that are unique in a catalogue."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._known: dict[tuple[str, str], str] = {}

    def give(self, wanted: str, digest: str) -> tuple[str, bool]:
        """Return a name, and whether it is new: the same record has the same name again."""
        known = self._known.get((wanted, digest))
        if known is not None:
            return known, False
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name)
        self._known[wanted, digest] = name
        return name, True


class _Reader:
    """Reads one schema; stops looking into it when it is too large."""

    def __init__(
        self, root: Schema, records: dict[str, RecordType], names: _Names, *, records_wanted: bool
    ) -> None:
        self._root = root
        self._records = records
        self._names = names
        self._steps = _MOST_STEPS
        self._records_left = _MOST_RECORDS if records_wanted else 0
        self._inside: tuple[object, ...] = ()
        self._objects: dict[int, Shape] = {}

    def parameters(self, hint: str) -> tuple[tuple[TypedField, ...], Shape | None]:
        """Return the fields of the whole schema, and the type of further names."""
        found = members(self._root, self._root)
        more = self.shape(found.rest, hint) if found.rest is not None else None
        if (found.open and more is None) or len(found.properties) > _MOST_FIELDS:
            more = ANY
        return self._fields(found, hint), more

    def shape(self, schema: object, hint: str, depth: int = 0) -> Shape:
        """Return the type of values that fit a schema.

        Args:
            schema: Any part of the whole.
            hint: Name for a record, where the schema has none.
            depth: How far inside it is.
        """
        self._steps -= 1
        if self._steps < 0 or depth > _DEEPEST or not isinstance(schema, Mapping):
            return ANY
        found = cast("Schema", schema)
        for read in (self._fixed, self._put_together):
            if (shape := read(found, hint, depth)) is not None:
                return shape
        kinds = found.get("type")
        several = as_list(kinds) or [kinds or _kind(found)]
        return union([self._of_type(str(kind), found, hint, depth) for kind in several])

    def _fixed(self, schema: Schema, hint: str, depth: int) -> Shape | None:
        """Return the type of a reference or of given values."""
        if "$ref" in schema:
            return self._referred(schema, hint, depth)
        if "const" in schema:
            return _choice([schema["const"]])
        return _choice(as_list(schema["enum"])) if as_list(schema.get("enum")) else None

    def _put_together(self, schema: Schema, hint: str, depth: int) -> Shape | None:
        """Return the type of alternatives, or of what several schemas say together."""
        if "properties" in schema:
            return None
        if options := as_list(schema.get("anyOf")) or as_list(schema.get("oneOf")):
            shape = self._any_of(options, hint, depth)
            return None if shape == ANY else shape
        if "allOf" in schema and not _is_object(schema):
            return self._all_of(schema, hint, depth)
        return None

    def _referred(self, schema: Schema, hint: str, depth: int) -> Shape:
        ref = str(schema["$ref"])
        target = as_schema(resolve(ref, self._root))
        if not target or ref in self._inside:
            return ANY
        name = ref.rpartition("/")[2]
        hint = hint if name in ("#", "") or name.isdecimal() else _camel(name)
        if _is_object(target):
            return self._object(target, hint, depth)
        before, self._inside = self._inside, (*self._inside, ref)
        shape = self.shape(target, hint, depth + 1)
        self._inside = before
        return shape

    def _any_of(self, options: list[object], hint: str, depth: int) -> Shape:
        if len(options) > _MOST_OPTIONS:
            return ANY
        shapes: list[Shape] = []
        for number, option in enumerate(options, start=1):
            name = hint if len(options) <= 2 else f"{hint}{number}"
            shapes.append(self.shape(option, name, depth + 1))
        return union(shapes)

    def _all_of(self, schema: Schema, hint: str, depth: int) -> Shape:
        bare = {key: part for key, part in schema.items() if key != "allOf"}
        parts = [self.shape(part, hint, depth + 1) for part in as_list(schema["allOf"])]
        return next((part for part in parts if part != ANY), self.shape(bare, hint, depth + 1))

    def _of_type(self, kind: str, schema: Schema, hint: str, depth: int) -> Shape:
        if kind == "object":
            return self._object(schema, hint, depth)
        if kind == "array":
            return self._array(schema, hint, depth)
        return _ATOMS.get(kind, ANY)

    def _array(self, schema: Schema, hint: str, depth: int) -> Shape:
        items = schema.get("items")
        places = as_list(schema.get("prefixItems")) or as_list(items)
        if not places:
            return ListOf(self.shape(items, f"{hint}Item", depth + 1))
        shapes = [
            self.shape(place, f"{hint}{number}", depth + 1)
            for number, place in enumerate(places[:_MOST_OPTIONS], start=1)
        ]
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        full = rest is False or schema.get("maxItems") == len(places)
        if full and schema.get("minItems") == len(places) <= _MOST_OPTIONS:
            return TupleOf(tuple(shapes))
        further = [] if full else [self.shape(rest, f"{hint}Item", depth + 1)]
        return ListOf(union([*shapes, *further]))

    def _object(self, schema: Schema, hint: str, depth: int) -> Shape:
        if (known := self._objects.get(id(schema))) is not None:
            return known
        found = members(schema, self._root)
        if not found.properties:
            rest = ANY if found.rest is None else self.shape(found.rest, f"{hint}Item", depth + 1)
            return DictOf(rest)
        fits = "" not in found.properties and len(found.properties) <= _MOST_FIELDS
        if self._records_left <= 0 or not fits:
            return DictOf(ANY)
        name, new = self._names.give(hint, self._digest(schema))
        self._objects[id(schema)] = Named(name)
        if new:
            self._records_left -= 1
            self._records[name] = RecordType(name, ())
            before, self._inside = self._inside, ()
            self._records[name] = RecordType(
                name,
                self._fields(found, name, depth + 1),
                None if found.rest is None else self.shape(found.rest, f"{name}Item", depth + 1),
                _line(schema.get("description")),
            )
            self._inside = before
        return Named(name)

    def _fields(self, found: Members, hint: str, depth: int = 0) -> tuple[TypedField, ...]:
        return tuple(
            TypedField(
                name,
                self.shape(schema, f"{hint}{_camel(name)}", depth),
                required=name in found.required,
                default=as_schema(schema).get("default", MISSING),
                about=_about(as_schema(schema)),
            )
            for name, schema in islice(found.properties.items(), _MOST_FIELDS)
        )

    def _digest(self, schema: Schema) -> str:
        """Return a hash of a schema and all that it refers to."""
        own = _seen(schema)
        parts: dict[str, object] = {}
        waiting: list[Schema] = [own]
        while waiting:
            for part in subschemas(waiting.pop()):
                ref = part.get("$ref")
                if isinstance(ref, str) and ref not in parts:
                    parts[ref] = resolve(ref, self._root)
                    waiting.append(as_schema(parts[ref]))
                    parts[ref] = _seen(waiting[-1])
        try:
            text = json.dumps([own, parts], sort_keys=True, default=str)
        except RecursionError:
            text = str(id(schema))
        return hashlib.sha256(text.encode()).hexdigest()


def _seen(schema: Schema) -> Schema:
    """Return a schema without what a type does not say, as that nothing else may be given."""
    kept = {key: part for key, part in schema.items() if key not in _UNSEEN}
    return {key: part for key, part in kept.items() if (key, part) != _CLOSED}


def _kind(schema: Schema) -> str:
    """Return the type that a schema without one is about."""
    if schema.keys() & {"properties", "additionalProperties", "patternProperties"}:
        return "object"
    return "array" if schema.keys() & {"items", "prefixItems"} else ""


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "properties" in schema


def _choice(values: list[object]) -> Shape:
    """Return the type of some values; their types alone, where they cannot be written down."""
    fixed: dict[tuple[type, object], str | int] = {}
    others: list[Shape] = []
    for value in values:
        if isinstance(value, str | bool) or (isinstance(value, int) and abs(value) < 2**53):
            fixed[type(value), value] = value
        else:
            others.append(_type_of(value))
    if len(fixed) > _MOST_CHOICES or sum(len(str(v)) for v in fixed.values()) > _LONGEST_CHOICES:
        return union([*(_type_of(value) for value in fixed.values()), *others])
    return union([*([LiteralOf(tuple(fixed.values()))] if fixed else []), *others])


def _type_of(value: object) -> Shape:
    if isinstance(value, list):
        return ListOf(ANY)
    if isinstance(value, Mapping):
        return DictOf(ANY)
    kinds: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return NONE if value is None else _ATOMS.get(kinds.get(type(value), ""), ANY)


def _about(schema: Schema) -> str:
    text = _line(schema.get("description"))
    form = schema.get("format")
    if isinstance(form, str) and not form.startswith("workspace-"):
        text = f"{text} ({_line(form)})".strip()
    return text


def _line(text: object) -> str:
    """Return text as one line without control characters."""
    if not isinstance(text, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _camel(text: str) -> str:
    """Return text as the name of a class."""
    parts = re.split(r"[^a-zA-Z0-9]+", text)
    name = "".join(part[:1].upper() + part[1:] for part in parts)[:60]
    return name if is_identifier(name) else f"Type{name}"
