"""TypeScript declarations of tools, for those who read them."""

import json
from collections.abc import Iterable

from lineshaft.tools.stubs.reader import read_specs
from lineshaft.tools.stubs.shapes import (
    Atom,
    DictOf,
    ListOf,
    LiteralOf,
    Named,
    OneOf,
    RecordType,
    Routine,
    Shape,
    TupleOf,
    TypedCatalogue,
    TypedField,
)
from lineshaft.values import ToolSpec

_ATOMS = {
    "any": "unknown",
    "none": "null",
    "bool": "boolean",
    "int": "number",
    "float": "number",
    "str": "string",
}


def typescript_stubs(specs: Iterable[ToolSpec]) -> str:
    """Return the declarations of tools as the text of a `.d.ts` file.

    Args:
        specs: The tools; those of a namespace stand in a `namespace`.
    """
    catalogue = read_specs(specs)
    parts = [_interface(record) for record in catalogue.records.values()]
    spaces: dict[str, list[Routine]] = {}
    for routine in catalogue.routines:
        spaces.setdefault(routine.namespace, []).append(routine)
    for space, routines in spaces.items():
        texts = [_function(routine, catalogue) for routine in routines]
        if space:
            inner = "\n".join(_indent(text) for text in texts)
            parts.append(f"declare namespace {space} {{\n{inner}\n}}")
        else:
            parts.extend(f"{text}" for text in texts)
    return "\n\n".join(parts) + "\n"


def _interface(record: RecordType) -> str:
    lines = [f"interface {record.name} {{"]
    lines += [f"  {_member(field)};" for field in record.fields]
    if record.more is not None:
        lines.append("  [key: string]: unknown;")
    return "\n".join([*_comment(record.about, []), *lines, "}"])


def _function(routine: Routine, catalogue: TypedCatalogue) -> str:
    members = [_member(field) for field in routine.parameters]
    if routine.more is not None:
        members.append("[key: string]: unknown")
    needed = any(field.required for field in routine.parameters)
    optional = "" if needed else "?"
    arguments = f"args{optional}: {{ {'; '.join(members)} }}" if members else ""
    told = [f"@param {field.name} {field.about}" for field in routine.parameters if field.about]
    declare = "" if routine.namespace else "declare "
    text = f"{declare}function {routine.name}({arguments}): Promise<{_type(routine.result)}>;"
    return "\n".join([*_comment(routine.spec.description, told), text])


def _member(field: TypedField) -> str:
    name = field.name if field.name.isascii() and field.name.isidentifier() else _quoted(field.name)
    return f"{name}{'' if field.required else '?'}: {_type(field.shape)}"


def _type(shape: Shape) -> str:
    match shape:
        case Atom(name):
            text = _ATOMS[name]
        case LiteralOf(values):
            text = " | ".join(_quoted(value) for value in values)
        case ListOf(OneOf() | LiteralOf() as item):
            text = f"({_type(item)})[]"
        case ListOf(item):
            text = f"{_type(item)}[]"
        case TupleOf(items):
            text = f"[{', '.join(_type(item) for item in items)}]"
        case DictOf(value):
            text = f"Record<string, {_type(value)}>"
        case Named(record):
            text = record
        case OneOf(options):
            text = " | ".join(dict.fromkeys(_type(option) for option in options))
    return text


def _quoted(value: object) -> str:
    return json.dumps(value)


def _comment(text: str, more: list[str]) -> list[str]:
    safe = "".join(c if c.isprintable() or c == "\n" else " " for c in text.strip())
    lines = [*safe.split("\n"), *more] if safe or more else []
    lines = [line.replace("*/", "* /").rstrip() for line in lines]
    if len(lines) <= 1:
        return [f"/** {line} */" for line in lines]
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
