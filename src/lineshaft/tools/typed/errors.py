"""pydantic's errors, in a tool's own words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from pydantic import ValidationError

from lineshaft.tools.schemas import Problem, ValuePath, shown, unknown

_EXPECTED = {
    "string": "a string",
    "int": "an integer",
    "float": "a number",
    "decimal": "a number",
    "finite_number": "a finite number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "iterable": "a list",
    "dict": "a dict",
    "mapping": "a dict",
    "model": "a dict",
    "model_attributes": "a dict",
    "typed_dict": "a dict",
    "dataclass": "a dict",
    "dataclass_exact": "a dict",
    "none_required": "None",
    "bytes": "text",
    "date": "a date such as '2024-05-31'",
    "date_from_datetime": "a date such as '2024-05-31'",
    "datetime": "a date and time such as '2024-05-31T12:00:00Z'",
    "datetime_from_date": "a date and time such as '2024-05-31T12:00:00Z'",
    "time": "a time such as '12:00:00'",
    "time_delta": "a duration such as 'PT1H30M'",
    "uuid": "a UUID",
    "url": "a URL",
    "path": "a path",
}
"""By the kind of error, its last word (`_type`, `_parsing`, ...) cut off."""

_BOUND = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "multiple_of": "a multiple of {multiple_of}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "at least {min_length} items long",
    "too_long": "at most {max_length} items long",
    "string_pattern_mismatch": "text that matches {pattern!r}",
    "literal_error": "{expected}",
    "enum": "{expected}",
}

_ENDING = re.compile(r"_(type|parsing|from_float|parsing_size|inner_type|exact_type|error).*$")


def problems_of(error: ValidationError, value: object, known: Iterable[str]) -> list[Problem]:
    """Return the problems of a validation, one a place.

    Args:
        error: As pydantic raised it.
        value: The validated value.
        known: Names that may stand at the top, for unknown ones.
    """
    names = list(known)
    texts: dict[ValuePath, str] = {}
    expected: dict[ValuePath, list[str]] = {}
    inputs: dict[ValuePath, object] = {}
    for detail in error.errors(include_url=False):
        kind = detail["type"]
        path = _path(detail["loc"], value, absent=kind == "missing")
        context = cast("Mapping[str, object]", detail.get("ctx", {}))
        if kind == "missing":
            texts[path] = "is missing"
        elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
            texts[path] = unknown(str(path[-1]), names) if len(path) == 1 else "is unknown"
        elif kind == "union_tag_not_found" and (field := _discriminator(context)):
            texts[*path, field] = "is missing: it says which form this has"
        elif kind == "union_tag_invalid" and (field := _discriminator(context)):
            tag, tags = context.get("tag"), context.get("expected_tags")
            texts[*path, field] = f"must be one of {tags}, not {tag!r}"
        elif kind in ("value_error", "assertion_error"):
            texts[path] = f"is refused: {context.get('error', '')}"
        elif wanted := _expected(kind, context, detail["msg"]):
            expected.setdefault(path, []).append(wanted)
            inputs[path] = detail["input"]
        else:
            texts[path] = f"is refused: {detail['msg']}"
    for path, words in expected.items():
        several = " or ".join(dict.fromkeys(words))
        texts.setdefault(path, f"must be {several}, not {shown(inputs[path])}")
    return [Problem(path, text) for path, text in texts.items()]


def _discriminator(context: Mapping[str, object]) -> str:
    """Return the field that says which form a value has, as it is given; empty: a function does."""
    found = re.fullmatch(r"(?:'[^']*' \| )?'([^']*)'", str(context.get("discriminator", "")))
    return found[1] if found is not None else ""


def _expected(kind: str, context: Mapping[str, object], message: str) -> str:
    """Return what a value must be; empty where the message says it in another way."""
    if (bound := _BOUND.get(kind)) is not None:
        text = bound.format(**context)
        return f"one of {text}" if kind in ("literal_error", "enum") and "," in text else text
    known = _EXPECTED.get(kind) or _EXPECTED.get(_ENDING.sub("", kind))
    if known is not None:
        return known
    found = re.match(r"(?:Input|Value) should be (.*)", message, re.DOTALL)
    return found[1] if found else ""


def _path(location: Sequence[str | int], value: object, *, absent: bool) -> ValuePath:
    """Return pydantic's location without the names of union members and the like in it."""
    path: list[str | int] = []
    for place, step in enumerate(location):
        if isinstance(value, Mapping) and isinstance(step, str):
            found = cast("Mapping[str, object]", value)
            if step in found or (absent and place == len(location) - 1):
                path.append(step)
                value = found.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            items = cast("list[object]", value)
            path.append(step)
            value = items[step] if step < len(items) else None
    return tuple(path)
