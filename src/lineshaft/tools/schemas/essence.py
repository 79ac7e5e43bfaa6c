"""Digest of what a schema accepts, without the words in it."""

import hashlib
import json
from collections.abc import Mapping
from typing import cast

from lineshaft.tools.schemas.pointers import DATA, KEYED

_WORDS = {"title": str, "description": str, "$comment": str, "deprecated": bool, "examples": list}
"""Keywords that change nothing of what is accepted, and their types: some servers write the day
into them. What has another type is something else of that name, such as a part referred to."""

_UNORDERED = frozenset({"required", "enum", "type"})


def schema_digest(schema: Mapping[str, object]) -> str:
    """Return the SHA-256 of what a schema accepts and of its defaults, in hexadecimal.

    Args:
        schema: Checked, so that all in it is JSON.
    """
    return hashlib.sha256(_text(_essence(schema)).encode()).hexdigest()


def _essence(schema: object) -> object:
    if isinstance(schema, list):
        return [_essence(each) for each in cast("list[object]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, object] = {}
    for keyword, said in cast("dict[str, object]", schema).items():
        if isinstance(said, _WORDS.get(keyword, ())):
            continue
        if keyword in KEYED and isinstance(said, dict):
            inside = cast("dict[str, object]", said)
            kept[keyword] = {name: _essence(each) for name, each in inside.items()}
        elif keyword in _UNORDERED and isinstance(said, list):
            kept[keyword] = sorted(cast("list[object]", said), key=_text)
        else:
            kept[keyword] = said if keyword in DATA else _essence(said)
    return kept


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
