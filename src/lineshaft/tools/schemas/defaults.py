"""The arguments of a call with the defaults of what is left out, as a JSON Schema has them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve

_DEEPEST = 40
_MOST_FORMS = 200
"""Forms that one value may have; further ones are not looked at."""

_MOST_INSIDE = 1_000
"""Defaults inside one default: a schema may contain itself."""


def with_defaults(
    arguments: Mapping[str, object], schema: Schema, *, optional: bool = False
) -> Mapping[str, object]:
    """Return arguments with the defaults of what is left out, in nested objects, too.

    Args:
        arguments: JSON-like; they are not changed.
        schema: JSON Schema of the arguments.
        optional: Whether an object that is left out and has no default counts as an empty one,
            since its default may be made by a function.

    Returns:
        The arguments themselves, where nothing is left out that has a default. Where several forms
        of a value have different defaults for one key, the key has a tuple of them.
    """
    return _Filling(schema, optional=optional).members(arguments, [schema], 0)


class _Filling:
    """The filling of one value, each part of it once.

    Args:
        root: The whole schema.
        optional: As for `with_defaults`.
    """

    def __init__(self, root: Schema, *, optional: bool) -> None:
        self._root = root
        self._optional = optional
        self._inside = 0
        """How many defaults the default has that is filled now."""

    def of(self, value: object, schemas: Sequence[object], depth: int) -> object:
        """Return a value with its defaults, given the schemas that it may have to fit."""
        if depth > _DEEPEST or not schemas:
            return value
        if isinstance(value, Mapping):
            return self.members(cast("Mapping[str, object]", value), schemas, depth)
        if isinstance(value, list):
            return self._items(cast("list[object]", value), schemas, depth)
        return value

    def members(
        self, value: Mapping[str, object], schemas: Sequence[object], depth: int
    ) -> Mapping[str, object]:
        """Return an object with its defaults; the same one where none is missing."""
        parts: dict[str, list[object]] = {}
        missing: dict[str, list[object]] = {}
        for form in self._forms(schemas):
            properties = as_schema(form.get("properties"))
            for name, part in properties.items():
                if name in value:
                    parts.setdefault(name, []).append(part)
                else:
                    missing.setdefault(name, []).extend(self._default(name, part, form, depth))
            if further := form.get("additionalProperties"):
                for name in value.keys() - properties.keys():
                    parts.setdefault(name, []).append(further)
        made = {name: self.of(item, parts.get(name, ()), depth + 1) for name, item in value.items()}
        for name, several in missing.items():
            if several:
                alike = all(each == several[0] for each in several)
                made[name] = several[0] if alike else tuple(several)
        is_same = len(made) == len(value) and all(made[name] is value[name] for name in value)
        return value if is_same else made

    def _items(self, value: list[object], schemas: Sequence[object], depth: int) -> object:
        forms = list(self._forms(schemas))
        every = [part for form in forms if (part := form.get("items"))]
        firsts = [as_list(form.get("prefixItems")) for form in forms]
        made = [
            self.of(item, [*every, *(f[index] for f in firsts if index < len(f))], depth + 1)
            for index, item in enumerate(value)
        ]
        is_same = all(filled is item for filled, item in zip(made, value, strict=True))
        return value if is_same else made

    def _default(self, name: str, part: object, form: Schema, depth: int) -> list[object]:
        """Return the default of a key that is left out, if it has one."""
        schema = as_schema(part)
        is_outermost, self._inside = self._inside == 0, self._inside + 1
        try:
            if self._inside > _MOST_INSIDE or depth > _DEEPEST:
                return []
            if "default" in schema:
                return [self.of(schema["default"], [schema], depth + 1)]
            if not self._optional or name in as_list(form.get("required")):
                return []
            filled = self.members({}, [schema], depth + 1)
            return [filled] if filled else []
        finally:
            if is_outermost:
                self._inside = 0

    def _forms(self, schemas: Sequence[object]) -> Iterator[Schema]:
        """Yield each schema that a value may have to fit: references and alternatives."""
        waiting = list(schemas)
        seen: set[int] = set()
        while waiting and len(seen) < _MOST_FORMS:
            form = waiting.pop()
            if not isinstance(form, Mapping) or id(cast("object", form)) in seen:
                continue
            seen.add(id(cast("object", form)))
            found = as_schema(cast("object", form))
            yield found
            if "$ref" in found:
                waiting.append(resolve(found["$ref"], self._root))
            for key in ("anyOf", "oneOf", "allOf"):
                waiting += as_list(found.get(key))
