"""Refusals of a JSON Schema, in a tool's own words."""

from collections.abc import Iterable, Mapping
from typing import cast

from jsonschema import ValidationError

from lineshaft.tools.schemas import Problem, ValuePath, shown, unknown

_TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a dict",
    "null": "None",
}

_BOUNDS = {
    "minimum": "{} or more",
    "maximum": "{} or less",
    "exclusiveMinimum": "greater than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters long",
    "maxLength": "at most {} characters long",
    "minItems": "at least {} items long",
    "maxItems": "at most {} items long",
    "minProperties": "a dict of at least {} keys",
    "maxProperties": "a dict of at most {} keys",
    "pattern": "text that matches {!r}",
    "const": "{!r}",
}

_FIXED = {
    "uniqueItems": "has an item twice",
    "not": "is not allowed",
    "contains": "lacks an item that must be there",
    "required": "is missing",
    "None": "holds what is not allowed",
}


def problems_of(errors: Iterable[ValidationError], known: Iterable[str]) -> list[Problem]:
    """Return the problems of a validation, one a place.

    Args:
        errors: As jsonschema yields them.
        known: Names that may stand at the top, for unknown ones.
    """
    names = list(known)
    found: dict[ValuePath, str] = {}
    for error in errors:
        path, text = _problem(error, names, 0)
        found.setdefault(path, text)
    return [Problem(path, text) for path, text in found.items()]


def _problem(error: ValidationError, names: list[str], depth: int) -> tuple[ValuePath, str]:
    path: ValuePath = tuple(error.absolute_path)
    keyword = str(error.validator)
    if keyword in _FIXED:
        return path, _FIXED[keyword]
    if keyword == "additionalProperties":
        return path, unknown(str(path[-1]), names) if len(path) == 1 else "is unknown"
    if keyword in ("anyOf", "oneOf") and not _same_place(error) and depth < 5 and error.context:
        nearest = max(error.context, key=lambda e: len(e.absolute_path))
        return _problem(nearest, names, depth + 1)
    if keyword in ("dependentRequired", "dependencies"):
        return path, f"lacks what belongs to it: {error.message}"
    wanted = _wanted(error)
    if wanted is None:
        return path, f"does not fit its schema ({keyword})"
    return path, f"must be {wanted}, not {shown(error.instance)}"


def _wanted(error: ValidationError) -> str | None:
    """Return the expected value at the place of an error, where a short text can say it."""
    keyword, value = str(error.validator), cast("object", error.validator_value)
    if keyword == "type":
        kinds = cast("list[str]", value if isinstance(value, list) else [value])
        return " or ".join(_TYPES.get(kind, kind) for kind in kinds)
    if keyword == "enum":
        options = cast("list[object]", value)
        listed = ", ".join(shown(option) for option in options[:20])
        return f"one of {listed}" + (", ..." if len(options) > 20 else "")
    if keyword in ("anyOf", "oneOf"):
        if not error.context:
            return "of one of the allowed forms only"
        words = [_wanted(e) for e in _same_place(error)]
        return " or ".join(dict.fromkeys(w for w in words if w)) or None
    return _BOUNDS[keyword].format(value) if keyword in _BOUNDS else None


def _same_place(error: ValidationError) -> list[ValidationError]:
    """Return the errors of the alternatives, if none of them looked further inside."""
    context = error.context or []
    inside = any(e.absolute_path != error.absolute_path for e in context)
    mapping = isinstance(error.instance, Mapping | list)
    return [] if inside and mapping else [e for e in context if _wanted(e)]
