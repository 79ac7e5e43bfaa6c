"""Descriptions of tools, of bounded size for any tool."""

import re
from itertools import islice
from typing import Literal

from msgspec.structs import replace

from lineshaft.tools._names import script_name
from lineshaft.tools.schemas import Schema, as_list, as_schema, subschemas
from lineshaft.tools.stubs import describe, python_stubs, signature
from lineshaft.values import ToolSpec, beginning

Detail = Literal["brief", "full"]

BRIEF = 320
"""Characters of a brief text, unless said."""

FULL = 12_000
"""Characters of a full text, unless said."""

_SHORTEST = 80
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")
_LONGEST_NAME = 128
_LONGEST_ABOUT = 400
_MOST_PARAMETERS = 200
_MOST_NAMES = 40
_MOST_SCHEMAS = 600


def detailed(spec: ToolSpec, detail: Detail = "full", *, most: int | None = None) -> str:
    """Return the description of a tool for its choice or call, of bounded size.

    Args:
        spec: The tool.
        detail: `brief`: its signature and the first sentence about it, a line each; `full`: as
            `describe`, where it is not too long.
        most: Characters at the most; at least 80.
    """
    if detail == "brief":
        return _brief(spec, max(_SHORTEST, BRIEF if most is None else most))
    return _full(spec, max(_SHORTEST, FULL if most is None else most))


def _brief(spec: ToolSpec, most: int) -> str:
    said = first_sentence(spec.description)
    room = most - min(len(said) + 5, most // 2)
    line = _names_only(spec) if _is_large(spec) else signature(_trimmed(spec, 0))
    if len(line) > room:
        line = _cut(_names_only(spec), room)
    left = most - len(line) - 5
    return f"{line}\n    {_cut(said, left)}" if said and left > 0 else line


def _full(spec: ToolSpec, most: int) -> str:
    trimmed = _trimmed(spec, most // 2)
    text = describe(trimmed)
    if len(text) > most:
        text = python_stubs([trimmed], budget=most)
    if len(text) <= most:
        return text
    note = "\n# ... cut: too long to tell"
    head = beginning(text, most - len(note))
    return f"{head.rpartition(chr(10))[0] or head}{note}"


def first_sentence(text: str) -> str:
    """Return the first sentence of a description on one line, without what cannot be printed."""
    start = beginning(text, 4_000).lstrip().partition("\n\n")[0]
    flat = " ".join("".join(c if c.isprintable() else " " for c in start).split())
    return _SENTENCE.split(flat, maxsplit=1)[0]


def _is_large(spec: ToolSpec) -> bool:
    """Return whether to read a tool's schemas costs more than a line is worth."""
    for schema in (spec.input_schema, spec.output_schema or {}):
        if next(islice(subschemas(schema), _MOST_SCHEMAS, None), None) is not None:
            return True
    return False


def _names_only(spec: ToolSpec) -> str:
    """Return a tool with the names of its parameters, those that must be given first."""
    schema = spec.input_schema
    given = [str(name) for name in islice(as_schema(schema.get("properties")), _MOST_PARAMETERS)]
    must = [name for name in given if name in as_list(schema.get("required"))]
    may = [f"{name}?" for name in given if name not in must]
    names = [name[:_LONGEST_NAME] for name in must + may if name.rstrip("?").isidentifier()]
    more = ", ..." if len(names) > _MOST_NAMES or len(names) < len(given) else ""
    return f"{script_name(spec.name)}({', '.join(names[:_MOST_NAMES])}{more})"


def _trimmed(spec: ToolSpec, about: int) -> ToolSpec:
    """Return a tool that says less of itself: so much, and of each of its parameters a little."""
    text = spec.description
    if len(text) > about:
        head = beginning(text, about)
        text = f"{head} ... ({len(text) - len(head):,} more characters)"
    given = as_schema(spec.input_schema.get("properties"))
    fewer = {
        name: _shorter(given[name])
        for name in islice(given, _MOST_PARAMETERS)
        if len(name) <= _LONGEST_NAME
    }
    schema = {**spec.input_schema, "properties": fewer}
    if len(fewer) < len(given):
        schema["additionalProperties"] = True
    return replace(spec, description=text, input_schema=schema if given else spec.input_schema)


def _shorter(schema: object) -> object:
    found: Schema = as_schema(schema)
    about = found.get("description")
    if isinstance(about, str) and len(about) > _LONGEST_ABOUT:
        return {**found, "description": f"{beginning(about, _LONGEST_ABOUT)} ..."}
    return schema


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{beginning(text, max(0, most - 3))}..."
