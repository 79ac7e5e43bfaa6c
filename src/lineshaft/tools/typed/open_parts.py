"""Results of which some part may be anything: each part in the form that its type has.

pydantic gives what stands at an open place a form of its own: bytes become text, and a set a list
without an order. There a result must be plain already, as one without a type.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

from lineshaft.tools.schemas import (
    NotPlain,
    Schema,
    as_list,
    as_schema,
    plain,
    resolve,
    subschemas,
)
from lineshaft.values import Struct

_BYTES = ("binary", "base64url")
_NOTES = frozenset({"description", "title", "default", "examples", "deprecated"})
_CHOICES = ("anyOf", "oneOf", "allOf")

_DEEPEST = 100


class _OpenPart(Struct, frozen=True):
    """A part that stays as it is."""

    value: object


class _Within(Struct, frozen=True):
    """A dict or a list that holds open parts; the rest of it takes the form of its type."""

    parts: Mapping[str | int, "_OpenPart | _Within"]
    """By key or position; a key that is no text has its position."""

    keys: int | None = None
    """How many keys there are, where some are no text."""


_Part = _OpenPart | _Within | None
"""None: all of it takes the form of its type."""


def is_open(schema: Schema) -> bool:
    """Return whether some part of a result may be anything, or is bytes."""
    return any(
        part.get("additionalProperties") is True or _is_anything(part)
        for part in subschemas(schema)
    )


def formed(result: object, schema: Schema, typed: Callable[[], object]) -> object:
    """Return a result in its JSON form.

    Args:
        result: As Python holds it: its models are dicts.
        schema: The JSON Schema of its type.
        typed: Gives the form that its type has; called once all open parts are known to be plain.

    Raises:
        NotPlain: An open part, or a key, has no JSON form.
    """
    part = _Open(schema).part(result, [schema])
    return part.value if isinstance(part, _OpenPart) else plain(_put(part, typed()))


def _is_anything(schema: Schema) -> bool:
    return schema.get("format") in _BYTES or not schema.keys() - _NOTES


def _put(part: _Part, typed: object) -> object:
    """Return a typed form with the open parts in their places."""
    if part is None:
        return typed
    if isinstance(part, _OpenPart):
        return part.value
    parts = part.parts
    if isinstance(typed, dict):
        found = cast("dict[str, object]", typed)
        if part.keys not in (None, len(found)):
            raise NotPlain("a dict with keys that are one in JSON", "use str keys")
        return {
            key: _put(parts.get(key) or parts.get(i), value)
            for i, (key, value) in enumerate(found.items())
        }
    if isinstance(typed, list):
        items = cast("list[object]", typed)
        return [_put(parts.get(i), value) for i, value in enumerate(items)]
    return typed


class _Open:
    """Finds the open parts of one result."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._depth = 0

    def part(self, value: object, schemas: Sequence[object]) -> _Part:
        """Return what is open in a value that one of some schemas tells of."""
        choices = list(self._choices(schemas))
        if any(map(_is_anything, choices)):
            return _OpenPart(plain(value))
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[object, object]", value), choices)
        if isinstance(value, list | tuple):
            items = cast("Sequence[object]", value)
            return _within((i, self._at(i, x, _items(choices, i))) for i, x in enumerate(items))
        if isinstance(value, set | frozenset):
            members = list(cast("set[object]", value))
            if any(self.part(each, _items(choices, 0)) for each in members):
                return _OpenPart(
                    [plain(each) for each in members]
                )  # its order is another each time
        return None

    def _mapping(self, value: Mapping[object, object], choices: Sequence[Schema]) -> _Part:
        found: list[tuple[str | int, _Part]] = []
        for i, (key, item) in enumerate(value.items()):
            name = str(plain(key))
            part = self._at(name, item, _values(choices, name))
            found.append((name if isinstance(key, str) else i, part))
        texts = all(isinstance(key, str) for key in value)
        return _within(found, keys=None if texts else len(value))

    def _at(self, step: str | int, value: object, schemas: Sequence[object]) -> _Part:
        if self._depth > _DEEPEST:
            raise NotPlain(f"nested more than {_DEEPEST} levels deep, or contains itself")
        self._depth += 1
        try:
            return self.part(value, schemas)
        except NotPlain as error:
            error.path.insert(0, step)
            raise
        finally:
            self._depth -= 1

    def _choices(self, schemas: Sequence[object]) -> Iterator[Schema]:
        """Yield the schemas, and those that they refer to or choose from, each once."""
        waiting, seen = [*schemas], set[int]()
        while waiting:
            given = waiting.pop()
            if id(given) in seen or given is False:
                continue
            seen.add(id(given))
            schema = as_schema(given)
            inner = [each for choice in _CHOICES for each in as_list(schema.get(choice))]
            if "$ref" in schema:
                inner.append(resolve(schema["$ref"], self._root))
            if not inner:
                yield schema
            waiting += inner


def _within(found: Iterable[tuple[str | int, _Part]], *, keys: int | None = None) -> _Part:
    parts = {step: part for step, part in found if part is not None}
    return _Within(parts, keys) if parts or keys is not None else None


def _items(choices: Sequence[Schema], index: int) -> list[object]:
    """Return the schemas of one item of a list."""
    found: list[object] = []
    for schema in choices:
        first = as_list(schema.get("prefixItems"))
        if index < len(first):
            found.append(first[index])
        elif "items" in schema:
            found.append(schema["items"])
    return found


def _values(choices: Sequence[Schema], name: str) -> list[object]:
    """Return the schemas of one value of a dict."""
    found: list[object] = []
    for schema in choices:
        named = as_schema(schema.get("properties"))
        if name in named:
            found.append(named[name])
            continue
        found += as_schema(schema.get("patternProperties")).values()
        if "additionalProperties" in schema:
            found.append(schema["additionalProperties"])
    return found
