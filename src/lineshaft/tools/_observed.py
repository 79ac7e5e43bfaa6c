"""Shapes of results: a JSON Schema that is inferred from them, and grows with each.

Pure. Only types and keys are kept, never a value; a key that looks like data is data too.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import cast

from lineshaft.tools.schemas import Schema, as_list, as_schema
from lineshaft.values import ToolSpec

Shape = dict[str, object]
"""A JSON Schema of the few words used here; `{}` is anything."""

_DEEPEST = 6
_MOST_VALUES = 2_000
_MOST_ITEMS = 60
_MOST_KEYS = 60
_MOST_KINDS = 4
_MOST_SHAPES = 300
_LOOSE_KEYS = 12
"""So many keys, none of them always there, are data."""

_LONGEST_TEXT = 200_000
_JSON = "application/json"
_REST = "additionalProperties"

_KINDS = ("null", "boolean", "number", "string", "array", "object")
_KIND_OF: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}
_KEY = re.compile(r"[A-Za-z_$@][A-Za-z0-9_$-]{0,39}")
_MOST_DIGITS = 3
_LONG = 20


def tool_version(spec: ToolSpec) -> str:
    """Return the version of a tool: a text that changes with the tool's description."""
    said = [spec.name, spec.description, spec.input_schema]
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


def infer_shape(
    value: object, *, most: int = _MOST_VALUES, shown: Callable[[str], str] = str
) -> Shape:
    """Return the shape of a result.

    Args:
        value: JSON-like.
        most: So many values in it are looked at; of long lists some items.
        shown: Returns a text without secrets; a key that has one is data, and no name of a field.
    """
    return bounded(_Look(most, shown).at(value, 0))


def merge_shapes(one: Schema, other: Schema) -> Shape:
    """Return the shape that all have that have one or the other."""
    return bounded(_merged(one, other))


def shape_difference(known: Schema, new: Schema) -> str:
    """Return the first place where a shape goes beyond a known one; empty where it fits."""
    return next(_beyond(known, new, ""), "")


def bounded(shape: Schema) -> Shape:
    """Return a simpler shape where it is too large."""
    made = dict(shape)
    for depth in range(_DEEPEST, -1, -1):
        if sum(1 for _ in islice(_all(made), _MOST_SHAPES + 1)) <= _MOST_SHAPES:
            break
        made = _cut(made, depth)
    return made


class _Look:
    """One look at a result; it ends when it has seen enough."""

    def __init__(self, most: int, shown: Callable[[str], str]) -> None:
        self._left = most
        self._shown = shown
        self._names: dict[str, bool] = {}
        """Whether a key names a field, as far as that was looked at."""

    def at(self, value: object, depth: int) -> Shape:
        self._left -= 1
        if value is None:
            return {"type": "null"}
        if isinstance(value, list):
            return self._list(cast("list[object]", value), depth)
        if isinstance(value, Mapping):
            return self._object(as_schema(cast("object", value)), depth)
        if isinstance(value, str) and not depth:
            return self._text(value)
        kind = _KIND_OF.get(type(value))
        return {"type": kind} if kind else {}

    def _text(self, text: str) -> Shape:
        """Return the shape of a text, with that of JSON in it."""
        if text.lstrip()[:1] not in ("{", "[") or len(text) > _LONGEST_TEXT:
            return {"type": "string"}
        try:
            held = json.loads(text)
        except (ValueError, RecursionError):
            return {"type": "string"}
        inner = self.at(held, 1)
        return {"type": "string", "contentMediaType": _JSON, "contentSchema": inner}

    def _list(self, items: list[object], depth: int) -> Shape:
        if not items:
            return {"type": "array"}
        if depth >= _DEEPEST:
            return {"type": "array", "items": {}}
        step = max(1, len(items) // _MOST_ITEMS)
        found: Shape | None = None
        for item in items[::step]:
            if self._left <= 0:
                break
            seen = self.at(item, depth + 1)
            found = seen if found is None else _merged(found, seen)
        return {"type": "array", "items": {} if found is None else found}

    def _object(self, value: Schema, depth: int) -> Shape:
        if depth >= _DEEPEST:
            return {"type": "object", _REST: {}}
        names = [name for name in islice(value, 2 * _MOST_KEYS) if self._is_name(name)]
        if len(names) > _MOST_KEYS or len(names) < 2 * (len(value) - len(names)):
            return self._map(value, depth)
        if self._left <= 0 and value:
            return {"type": "object", _REST: {}}
        properties = {name: self.at(value[name], depth + 1) for name in names}
        made: Shape = {"type": "object", "properties": properties, "required": sorted(names)}
        odd = {name: item for name, item in value.items() if name not in properties}
        return {**self._map(odd, depth), **made} if odd else made

    def _is_name(self, key: str) -> bool:
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = _is_name(key) and self._shown(key) == key
        return known

    def _map(self, value: Schema, depth: int) -> Shape:
        some = islice(value.values(), _MOST_ITEMS)
        shapes = [self.at(item, depth + 1) for item in some if self._left > 0]
        values: Shape = reduce(_merged, shapes) if shapes else {}
        return {"type": "object", _REST: values}


def _is_name(key: object) -> bool:
    """Return whether a key names a field, and is not data itself, or a text to be read."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return False
    digits = sum(c.isdigit() for c in key)
    mixed = digits and key.lower() != key and key.upper() != key
    return digits <= _MOST_DIGITS and not (len(key) >= _LONG and mixed)


def _merged(one: Schema, other: Schema) -> Shape:
    if one == other:
        return dict(one)
    mine, others = _parts(one), _parts(other)
    if mine is None or others is None:
        return {}
    found: dict[str, Shape] = {}
    for kind in _KINDS:
        both = [parts[kind] for parts in (mine, others) if kind in parts]
        if both:
            found[kind] = both[0] if len(both) == 1 else _MERGE[kind](*both)
    if len(found) > _MOST_KINDS:
        return {}
    return next(iter(found.values())) if len(found) == 1 else {"anyOf": list(found.values())}


def _parts(shape: Schema) -> dict[str, Shape] | None:
    """Return the shapes of which a value has one, by kind; None: it may be anything."""
    options = as_list(shape.get("anyOf")) or ([shape] if "type" in shape else [])
    parts = {_kind(as_schema(option)): dict(as_schema(option)) for option in options}
    return parts or None


def _kind(shape: Schema) -> str:
    kind = str(shape.get("type"))
    return "number" if kind == "integer" else kind


def _same(one: Shape, other: Shape) -> Shape:
    del other
    return one


def _numbers(one: Shape, other: Shape) -> Shape:
    return one if one == other else {"type": "number"}


def _texts(one: Shape, other: Shape) -> Shape:
    if "contentSchema" not in one or "contentSchema" not in other:
        return {"type": "string"}
    inner = _merged(as_schema(one["contentSchema"]), as_schema(other["contentSchema"]))
    return {**one, "contentSchema": inner}


def _arrays(one: Shape, other: Shape) -> Shape:
    items = [as_schema(shape["items"]) for shape in (one, other) if "items" in shape]
    return {"type": "array", "items": reduce(_merged, items)} if items else one


def _objects(one: Shape, other: Shape) -> Shape:
    if "properties" not in one or "properties" not in other:
        return _as_map(one, other)
    mine, others = as_schema(one["properties"]), as_schema(other["properties"])
    properties = {
        name: _merged(as_schema(mine.get(name, others.get(name))), as_schema(others[name]))
        if name in others
        else dict(as_schema(mine[name]))
        for name in dict.fromkeys([*mine, *others])
    }
    required = set(as_list(one["required"])) & set(as_list(other["required"]))
    if len(properties) > _MOST_KEYS or (len(properties) >= _LOOSE_KEYS and not required):
        return _as_map(one, other)
    made: Shape = {"type": "object", "properties": properties}
    made["required"] = sorted(cast("set[str]", required))
    rest = [as_schema(s[_REST]) for s in (one, other) if _REST in s]
    return {**made, _REST: reduce(_merged, rest)} if rest else made


def _as_map(one: Shape, other: Shape) -> Shape:
    values: list[Shape] = []
    for shape in (one, other):
        values += [dict(as_schema(part)) for part in as_schema(shape.get("properties")).values()]
        if _REST in shape:
            values.append(dict(as_schema(shape[_REST])))
    return {"type": "object", _REST: reduce(_merged, values) if values else {}}


_MERGE = {
    "null": _same,
    "boolean": _same,
    "number": _numbers,
    "string": _texts,
    "array": _arrays,
    "object": _objects,
}


def _inner(shape: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the shapes right inside a shape, and where they are."""
    for name, part in as_schema(shape.get("properties")).items():
        yield f".{name}", as_schema(part)
    for word, place in (("items", "[]"), (_REST, "{}"), ("contentSchema", "")):
        if word in shape:
            yield place, as_schema(shape[word])
    for option in as_list(shape.get("anyOf")):
        yield "", as_schema(option)


def _all(shape: Schema) -> Iterator[Schema]:
    waiting = [shape]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(part for _, part in _inner(found))


def _cut(shape: Schema, depth: int) -> Shape:
    """Return the shape of any value, for parts nested too deeply."""
    made = dict(shape)
    if "anyOf" in made:
        made["anyOf"] = [_cut(as_schema(option), depth) for option in as_list(made["anyOf"])]
        return made
    if "properties" in made:
        parts = as_schema(made["properties"])
        made["properties"] = {
            k: _cut(as_schema(v), depth - 1) if depth else {} for k, v in parts.items()
        }
    for word in ("items", _REST, "contentSchema"):
        if word in made:
            made[word] = _cut(as_schema(made[word]), depth - 1) if depth else {}
    return made


def _beyond(known: Schema, new: Schema, place: str) -> Iterator[str]:
    """Yield where a shape is not within another."""
    had, has = _parts(known), _parts(new)
    if had is None:
        return
    if has is None:
        yield f"{place or 'it'} may be anything"
        return
    for kind, part in has.items():
        other = had.get(kind)
        if other is None or (other["type"], part["type"]) == ("integer", "number"):
            yield f"{place or 'it'} is {part['type']}, not {_kinds(had)}"
        else:
            yield from _beyond_within(other, part, place)


def _beyond_within(known: Shape, new: Shape, place: str) -> Iterator[str]:
    inner = dict(_inner(known))
    for where, part in _inner(new):
        if where in inner:
            yield from _beyond(inner[where], part, f"{place}{where}")
        elif "{}" in inner:
            yield from _beyond(inner["{}"], part, f"{place}{{}}")
        else:
            yield f"{place}{where} is new"
    if "contentSchema" in known and "contentSchema" not in new:
        yield f"{place or 'it'} is text without JSON"
    given = as_schema(new.get("properties"))
    for name in as_list(known.get("required")):
        if name not in given or name not in as_list(new.get("required")):
            yield f"{place}.{name} is missing"


def _kinds(parts: Mapping[str, Shape]) -> str:
    return " or ".join(str(part["type"]) for part in parts.values())
