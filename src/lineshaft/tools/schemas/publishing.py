"""Schemas as they are published: in the part of JSON Schema that clients and model APIs take.

The gate validates arguments against the original. Facts that a client's schema cannot express go
into the description. The rules are those of OpenAI's and Anthropic's APIs, of VS Code and of
Gemini: an object with properties at the root and nothing that branches there, `items` at each
    array, nothing that points elsewhere, drafts 7 and 2020-12 alike.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, cast

from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve
from lineshaft.values import Struct, ToolSpec, beginning

LONGEST_TEXT = 1_024
"""Characters of a description."""

_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_BRANCHES = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const")
_KEYED = ("properties", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf")
_SINGLE = ("not", "if", "then", "else", "contains", "propertyNames", "additionalProperties")
_KEPT = frozenset(
    {
        *("type", "description", "title", "default", "examples", "enum", "const", "format"),
        *("pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum"),
        *("exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems"),
        *("minProperties", "maxProperties", "readOnly", "writeOnly", "deprecated"),
        *("contentEncoding", "contentMediaType"),
    }
)
_DIALECTS = ("https://json-schema.org/draft/2020-12/schema",)
_TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
_DEEPEST, _MOST_PARTS, _LONGEST_CONSTRAINT = 20, 2_000, 300


class PublishedSchema(Struct, frozen=True, kw_only=True):
    """A schema of arguments that every client takes."""

    schema: dict[str, Any]
    description: str
    """The tool's, with the constraints that the schema cannot say; never empty."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Published names of arguments that are others, each with the tool's own."""


def published(spec: ToolSpec) -> PublishedSchema:
    """Return the schema of a tool's arguments as it is published."""
    schema = spec.input_schema
    reader = _Inliner(schema)
    root = reader.part(schema)
    left_out = {key: schema[key] for key in _BRANCHES if key in schema}
    properties, required = _arguments(root)
    names = _renamed(properties)
    own = {key: value for key, value in root.items() if key not in _BRANCHES}
    made: dict[str, Any] = {**own, "type": "object"}
    made["properties"] = {names.get(key, key): value for key, value in properties.items()}
    made.pop("required", None)
    if required:
        made["required"] = [names.get(key, key) for key in required]
    # The specification wants both kept (SEP-1613); nothing here points to them.
    made |= reader.kept_at_root()
    text = spec.description.strip() or f"The tool {spec.name}."
    if left_out:
        text = f"{beginning(text, LONGEST_TEXT - 400)}\nConstraint: {_brief(left_out)}"
    return PublishedSchema(
        schema=made,
        description=_cut(text),
        names={new: own for own, new in names.items()},
    )


def own_names(spec: ToolSpec, arguments: object) -> object:
    """Return arguments that came under published names under those that the tool knows.

    Raises:
        ToolError: `E_INVALID_ARGS`: one came under both.
    """
    if not isinstance(arguments, Mapping):
        return arguments
    given = cast("Mapping[str, object]", arguments)
    plain = all(map(_NAME.fullmatch, as_schema(spec.input_schema.get("properties"))))
    if plain and not any(key in spec.input_schema for key in (*_LISTED, "$ref")):
        return given
    names = published(spec).names
    for new, own in names.items():
        if new in given and own in given:
            raise ToolError("E_INVALID_ARGS", f"{new!r} and {own!r} are one argument: give one")
    return {names.get(name, name): value for name, value in given.items()}


def plainest(schema: Schema) -> dict[str, Any]:
    """Return a published schema of our own without what Gemini's `parameters` refuse."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            parts = as_schema(value).items()
            made[key] = {name: plainest(as_schema(part)) for name, part in parts}
        elif key == "items":
            made[key] = plainest(as_schema(value))
        elif key == "exclusiveMinimum":
            made["minimum"] = value
        elif key == "type" and isinstance(value, list):
            made[key] = next(each for each in cast("list[str]", value) if each != "null")
        elif key not in ("additionalProperties", "const"):
            made[key] = value
    return made


def _arguments(root: Schema) -> tuple[dict[str, object], list[str]]:
    """Return all properties that the root or one of its branches names, and those required."""
    properties = dict(as_schema(root.get("properties")))
    required = [each for each in as_list(root.get("required")) if isinstance(each, str)]
    for key in _LISTED:
        for branch in map(as_schema, as_list(root.get(key))):
            inner, needed = _arguments(branch)
            properties = {**inner, **properties}
            required += needed if key == "allOf" else []
    return properties, [each for each in dict.fromkeys(required) if each in properties]


def _renamed(properties: Mapping[str, object]) -> dict[str, str]:
    """Return another name for each that clients do not take."""
    taken = {name for name in properties if _NAME.fullmatch(name)}
    found: dict[str, str] = {}
    for name in properties:
        if name not in taken:
            plain = re.sub(r"[^a-zA-Z0-9_.-]", "_", name)[:50] or "_"
            new = next(each for each in _numbered(plain) if each not in taken)
            taken.add(new)
            found[name] = new
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))


class _Inliner:
    """Reads one schema, every reference put in its place."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = _MOST_PARTS

    def part(self, schema: object, trail: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return one schema within it, with references replaced by their targets."""
        self._left -= 1
        known = as_schema(schema)
        ref = known.get("$ref")
        if isinstance(ref, str):
            return self._referred(ref, known, trail)
        if self._left < 0 or len(trail) > _DEEPEST:
            return _outline(known)
        made = {k: v for k, v in known.items() if k in _KEPT or k.startswith("x-")}
        deeper = (*trail, "")
        for key in _KEYED:
            if key in known:
                parts = as_schema(known[key]).items()
                made[key] = {name: self.part(each, deeper) for name, each in parts}
        for key in _LISTED:
            if branches := as_list(known.get(key)):
                made[key] = [self.part(each, deeper) for each in branches]
        for key in _SINGLE:
            if key in known:
                value = known[key]
                made[key] = value if isinstance(value, bool) else self.part(value, deeper)
        for key in ("not", "contains", "propertyNames", "if", "then", "else"):
            if isinstance(made.get(key), bool):
                del made[key]
        self._array(known, made, deeper)
        return _tidy(known, made)

    def kept_at_root(self) -> dict[str, Any]:
        """Return the dialect and the definitions of the whole schema."""
        made: dict[str, Any] = {}
        if self._root.get("$schema") in _DIALECTS:
            made["$schema"] = self._root["$schema"]
        if definitions := as_schema(self._root.get("$defs")):
            made["$defs"] = {name: self.part(each) for name, each in definitions.items()}
        return made if self._left > 0 else {}

    def _referred(self, ref: str, known: Schema, trail: tuple[str, ...]) -> dict[str, Any]:
        target = resolve(ref, self._root)
        beside = {key: value for key, value in known.items() if key != "$ref"}
        if target is None or ref in trail or len(trail) > _DEEPEST or self._left < 0:
            return {**_outline(as_schema(target)), **self.part(beside, trail)}
        return {**self.part(target, (*trail, ref)), **self.part(beside, (*trail, ref))}

    def _array(self, known: Schema, made: dict[str, Any], trail: tuple[str, ...]) -> None:
        items = known.get("items")
        is_tuple = isinstance(items, list) or "prefixItems" in known
        if isinstance(items, Mapping) and not is_tuple:
            made["items"] = self.part(cast("object", items), trail)
        elif "array" in _types(known) or is_tuple:
            made["items"] = {}
        if is_tuple:
            ordered: object = known.get("prefixItems", known.get("items"))
            made["description"] = _noted(made, f"In order: {_brief(ordered)}")


def _types(schema: Schema) -> list[str]:
    kind = schema.get("type")
    given = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    return [each for each in given if isinstance(each, str) and each in _TYPES]


def _tidy(known: Schema, made: dict[str, Any]) -> dict[str, Any]:
    """Convert keywords that one draft takes and another does not."""
    made.pop("type", None)
    if types := _types(known):
        made["type"] = types[0] if len(types) == 1 else types
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        is_meant = made.get(exclusive)
        if isinstance(is_meant, bool):  # draft 4
            del made[exclusive]
            if is_meant and bound in made:
                made[exclusive] = made.pop(bound)
    needed = [each for each in as_list(known.get("required")) if isinstance(each, str)]
    there = as_schema(made.get("properties"))
    if needed := [each for each in dict.fromkeys(needed) if each in there]:
        made["required"] = needed
    if isinstance(made.get("description"), str):
        made["description"] = _cut(made["description"])
    return made


def _outline(schema: Schema) -> dict[str, Any]:
    """Return the text for a schema that is not written out: it contains itself, or is vast."""
    made = {key: schema[key] for key in ("description", "title") if key in schema}
    types = _types(schema)
    if types == ["array"]:
        return {**made, "type": "array", "items": {}}
    return {**made, "type": types[0]} if len(types) == 1 else made


def _noted(made: Schema, note: str) -> str:
    text = made.get("description")
    return f"{text}\n{note}" if isinstance(text, str) and text else note


def _brief(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    return text if len(text) <= _LONGEST_CONSTRAINT else f"{text[:_LONGEST_CONSTRAINT]} ..."


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{beginning(text, LONGEST_TEXT - 4)} ..."
