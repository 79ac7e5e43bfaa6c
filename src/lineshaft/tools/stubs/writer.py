"""Types as Python source."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, cast

from msgspec.structs import replace

from lineshaft.tools._names import is_identifier
from lineshaft.tools.stubs.reader import WORDS
from lineshaft.tools.stubs.shapes import (
    ANY,
    MISSING,
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
    union,
)
from lineshaft.values import beginning

_LONGEST_DEFAULT = 200
_ATOMS = {
    "any": "Any",
    "none": "None",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
}
_BUILTINS = ("bool", "dict", "float", "int", "list", "str", "tuple")


def odd_parameters(routine: Routine) -> list[TypedField]:
    """Return the parameters whose names Python cannot write: they are given by `**{...}`."""
    return [p for p in routine.parameters if not _is_parameter(p.name)]


class SourceWriter:
    """Writes types, records and signatures.

    Args:
        catalogue: Knows the records.
        taken: Names that the text defines, which cannot stand for types in it.
    """

    def __init__(self, catalogue: TypedCatalogue, taken: Iterable[str] = ()) -> None:
        self._records = catalogue.records
        hidden = set(taken)
        self._words = {
            word: f"{word}_" if word in hidden else word for word in (*WORDS, *_BUILTINS)
        }
        self.used: set[str] = set()
        """Words that the text needs."""

    def word(self, name: str) -> str:
        """Return a word of typing or a builtin, spelt so that no other name hides it."""
        self.used.add(name)
        return self._words[name]

    def header(self) -> str:
        """Return the imports for the written text."""
        lines: list[str] = []
        for module, words in (("typing", WORDS), ("builtins", _BUILTINS)):
            names = [
                word if self._words[word] == word else f"{word} as {self._words[word]}"
                for word in words
                if word in self.used and (module == "typing" or self._words[word] != word)
            ]
            if names:
                lines.append(f"from {module} import {', '.join(names)}")
        return "\n".join(lines)

    def type(self, shape: Shape) -> str:
        """Return a type."""
        match shape:
            case Atom(name):
                text = "None" if name == "none" else self.word(_ATOMS[name])
            case LiteralOf(values):
                text = f"{self.word('Literal')}[{', '.join(literal(v) for v in values)}]"
            case ListOf(item):
                text = f"{self.word('list')}[{self.type(item)}]"
            case TupleOf(items):
                text = f"{self.word('tuple')}[{', '.join(self.type(item) for item in items)}]"
            case DictOf(value):
                text = f"{self.word('dict')}[{self.word('str')}, {self.type(value)}]"
            case Named(record):
                text = record
            case OneOf(options):
                text = " | ".join(dict.fromkeys(self.type(option) for option in options))
        return text

    def loose(self, shape: Shape, *, inside: bool = False) -> str:
        """Return a type for arguments of scripts, which accepts every value that could be right.

        A checker infers `list[str]` where only some texts are allowed, `list[dict[str, str]]`
        where records are wanted, and takes no list for a list of a wider type.

        Args:
            shape: The shape of the values.
            inside: They are items of a collection.
        """
        match shape:
            case LiteralOf(values) if inside:
                kinds = [Atom(cast("_Kind", type(value).__name__)) for value in values]
                text = self.type(union(list(kinds)))
            case ListOf(Atom("str") | LiteralOf() as item):
                text = self.loose(item, inside=True)
                text = f"{self.word('list')}[{text}] | {self.word('tuple')}[{text}, ...]"
            case ListOf(Named() as item):
                sequence = self.word("Sequence")
                text = f"{sequence}[{item.record}] | {sequence}[{self._mapping(item)}]"
            case ListOf(item):
                text = f"{self.word('Sequence')}[{self.loose(item, inside=True)}]"
            case TupleOf(items):
                text = f"{self.word('Sequence')}[{self.loose(union(list(items)), inside=True)}]"
            case DictOf(value):
                text = (
                    f"{self.word('Mapping')}[{self.word('str')}, {self.loose(value, inside=True)}]"
                )
            case Named(record):
                text = f"{record} | {self._mapping(shape)}"
            case OneOf(options):
                text = " | ".join(
                    dict.fromkeys(self.loose(option, inside=inside) for option in options)
                )
            case _:
                text = self.type(shape)
        return text

    def signature(self, routine: Routine, *, loose: bool = False) -> str:
        """Return the parameters and the result of a tool, as they stand after its name.

        Args:
            routine: The tool.
            loose: It is for a checker: a parameter whose name Python cannot write stands by the
                keyword that is taken for it, too, in its place.
        """
        write = self.loose if loose else self.type
        words = {own: word for word, own in routine.spec.keywords.items()} if loose else {}
        parameters = [replace(p, name=words.get(p.name, p.name)) for p in routine.parameters]
        named = [p for p in parameters if _is_parameter(p.name)]
        odd = odd_parameters(routine)
        first = _first([words.get(name, name) for name in routine.spec.positional], named)
        others = [p for p in named if p not in first]
        parts: list[str] = []
        for p in (*first, *others):
            if others and p is others[0]:
                parts.append("*")
            default = "" if p.required else f" = {self.default(p)}"
            parts.append(f"{p.name}: {write(p.shape)}{default}")
        if odd or routine.more is not None:
            parts += self.further(routine, odd, loose=loose)
        return f"({', '.join(parts)}) -> {self.type(routine.result)}"

    def further(self, routine: Routine, odd: list[TypedField], *, loose: bool) -> list[str]:
        """Return the part of a signature that takes parameters without a usable name."""
        write = self.loose if loose else self.type
        named = {*routine.spec.keywords, *(p.name for p in routine.parameters if p not in odd)}
        more = union([*(p.shape for p in odd), *([routine.more] if routine.more else [])])
        return [f"**{_free_name(named)}: {write(more)}"]

    def default(self, field: TypedField) -> str:
        """Return a field's default as Python; `...` where there is none that can be written."""
        if field.default is MISSING or not self._fits(field.default, field.shape):
            return "..."
        text = self._default(field.default, field.shape)
        return text if len(text) <= _LONGEST_DEFAULT else "..."

    def record(self, record: RecordType, *, comments: bool) -> str:
        """Return a record as a `TypedDict`.

        Args:
            record: The record.
            comments: Whether to add the descriptions of it and of its keys.
        """
        base = self.word("TypedDict")
        hidden = {*WORDS, *_BUILTINS, *self._records}
        plain = all(_is_parameter(f.name) and f.name not in hidden for f in record.fields)
        start = f"class {record.name}({base}):" if plain else ""
        lines = [start or f'{record.name} = {base}("{record.name}", {{']
        if plain and comments and record.about:
            lines.append(f"    {docstring([record.about], '    ')}")
        for field in record.fields:
            kind = self.type(field.shape)
            if not field.required:
                kind = f"{self.word('NotRequired')}[{kind}]"
            line = f"    {field.name}: {kind}" if plain else f"    {literal(field.name)}: {kind},"
            about = f"  # {beginning(field.about, 160)}" if comments and field.about else ""
            lines.append(f"{line}{about}")
        if comments and record.more is not None:
            kind = "" if record.more == ANY else f": {self.type(record.more)}"
            lines.append(f"    # and further keys{kind}")
        return "\n".join([*lines, *([] if plain else ["})"])])

    def _mapping(self, shape: Named) -> str:
        record = self._records[shape.record]
        kinds = {field.shape for field in record.fields}
        only = next(iter(kinds))
        same = len(kinds) == 1 and isinstance(only, Atom) and record.more is None
        value = self.type(only) if same else self.word("Any")
        return f"{self.word('Mapping')}[{self.word('str')}, {value}]"

    def _fits(self, value: object, shape: Shape) -> bool:
        """Return whether a type checker would take a default for a type."""
        match shape:
            case Atom(name):
                fit = name == "any" or type(value).__name__ in _PYTHON_TYPES[name]
            case LiteralOf(values):
                fit = any(type(value) is type(v) and value == v for v in values)
            case ListOf(item) if isinstance(value, list):
                fit = all(self._fits(v, item) for v in cast("list[object]", value))
            case TupleOf(items) if isinstance(value, list):
                given = cast("list[object]", value)
                fit = len(given) == len(items) and all(map(self._fits, given, items))
            case DictOf(item) if isinstance(value, Mapping):
                found = cast("Mapping[str, object]", value)
                fit = all(self._fits(v, item) for v in found.values())
            case Named(name) if isinstance(value, Mapping):
                fit = self._fits_record(cast("Mapping[str, object]", value), self._records[name])
            case OneOf(options):
                fit = any(self._fits(value, option) for option in options)
            case _:
                fit = False
        return fit

    def _default(self, value: object, shape: Shape) -> str:
        """Return a value that fits as Python source: a list is a tuple where that is its type."""
        match shape:
            case TupleOf(items) if isinstance(value, list):
                places = zip(cast("list[object]", value), items, strict=True)
                inner = ", ".join(self._default(v, item) for v, item in places)
                return f"({inner},)" if len(items) == 1 else f"({inner})"
            case ListOf(item) if isinstance(value, list):
                inner = ", ".join(self._default(v, item) for v in cast("list[object]", value))
                return f"[{inner}]"
            case OneOf(options):
                fitting = next(option for option in options if self._fits(value, option))
                return self._default(value, fitting)
            case _:
                return literal(value)

    def _fits_record(self, value: Mapping[str, object], record: RecordType) -> bool:
        fields = {field.name: field for field in record.fields}
        return all(name in value for name, f in fields.items() if f.required) and all(
            name in fields and self._fits(item, fields[name].shape) for name, item in value.items()
        )


_Kind = Literal["bool", "int", "str"]

_PYTHON_TYPES = {
    "none": ("NoneType",),
    "bool": ("bool",),
    "int": ("int",),
    "float": ("float", "int"),
    "str": ("str",),
}


def literal(value: object) -> str:
    """Return plain data as Python source, with double quotes where they need no escapes."""
    if isinstance(value, str):
        simple = value.isprintable() and '"' not in value and "\\" not in value
        return f'"{value}"' if simple else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(literal(item) for item in cast('list[object]', value))}]"
    if isinstance(value, Mapping):
        found = cast("Mapping[str, object]", value)
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in found.items())}}}"
    return repr(value)


def docstring(lines: list[str], indent: str) -> str:
    """Return lines as a docstring, without the indent of its first line."""
    text = "\n".join(line.rstrip() for line in lines).strip()
    text = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    text = f'{text[:-1]}\\"' if text.endswith('"') else text
    if "\n" not in text:
        return f'"""{text}"""'
    inner = "\n".join(f"{indent}{line}" if line else "" for line in text.split("\n"))
    return f'"""{inner.lstrip()}\n{indent}"""'


def _is_parameter(name: str) -> bool:
    return is_identifier(name) and not name.startswith("__")


def _first(positional: Sequence[str], fields: Sequence[TypedField]) -> list[TypedField]:
    """Return the fields that stand before the `*` of a signature, in order."""
    by_name = {field.name: field for field in fields}
    found: list[TypedField] = []
    for name in positional:
        # A checker takes a first parameter of these names for an object.
        if name not in by_name or name in ("self", "cls"):
            break
        found.append(by_name[name])
    return found


def _free_name(names: Collection[str]) -> str:
    return next(name for name in ("more", "further", "more_", "further_") if name not in names)
