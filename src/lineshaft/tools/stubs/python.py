"""Python stubs: a form for models and people, and one for a type checker."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec.structs import replace

from lineshaft.tools.stubs.reader import read_specs
from lineshaft.tools.stubs.shapes import (
    DictOf,
    ListOf,
    Named,
    OneOf,
    Routine,
    Shape,
    TupleOf,
    TypedCatalogue,
    TypedField,
)
from lineshaft.tools.stubs.writer import SourceWriter, docstring, literal, odd_parameters
from lineshaft.values import Stubs, ToolSpec, beginning

_BUDGET = 60_000
_LONGEST_SIGNATURE = 600


def python_stubs(specs: Iterable[ToolSpec], *, budget: int = _BUDGET) -> str:
    """Return the signatures of tools as the text of a `.pyi` file, for authors of scripts.

    Args:
        specs: The tools; those of a namespace stand in a class of its name.
        budget: Characters. A text above it is written again with less: first without the words
            about parameters and keys, then with plain dicts, then without any words. Names and
            parameters always stay; of a tool with more than 200 the rest is `**more`.
    """
    found = list(specs)
    full = read_specs(found, observed=True)
    text = _text(full, words=2)
    if len(text) > budget:
        text = _text(full, words=1)
    if len(text) > budget:
        text = _text(coarse := read_specs(found, records=False, observed=True), words=1)
        if len(text) > budget:
            text = _text(coarse, words=0)
    return text


def checker_stubs(specs: Iterable[ToolSpec], *, closed: Collection[str] = ()) -> Stubs:
    """Return the stubs of tools for a type checker.

    Parameters take every value that could be right; results are exact.

    Args:
        specs: The tools.
        closed: Canonical names of further tools, of which no more than the name is told.
    """
    catalogue = read_specs([*specs, *(ToolSpec(name=name) for name in closed)])
    spaces: dict[str, list[Routine]] = {"": []}
    for routine in catalogue.routines:
        spaces.setdefault(routine.namespace, []).append(routine)
    texts = {
        space: _module(catalogue, routines, frozenset(closed)) for space, routines in spaces.items()
    }
    main = texts.pop("")
    return Stubs(main=main, modules={**texts, "tools": main})


def record_tools(specs: Iterable[ToolSpec]) -> Mapping[str, tuple[str, ...]]:
    """Return the records that `checker_stubs` writes, each with the tools whose results it is in.

    Args:
        specs: The tools. A record that is no part of a result, that may have further keys, or that
            is one of several in its place in a result, comes with none.
    """
    catalogue = read_specs(specs)
    found: dict[str, tuple[str, ...]] = dict.fromkeys(catalogue.records, ())
    all_unsure: set[str] = set()
    for routine in catalogue.routines:
        used = catalogue.used_by([replace(routine, parameters=(), more=None)])
        shapes = (routine.result, *(field.shape for record in used for field in record.fields))
        unsure = {name for shape in shapes for name in _alternatives(shape)}
        for record in used:
            found[record.name] += (routine.spec.name,)
            if record.more is not None or record.name in unsure:
                all_unsure.add(record.name)
    return {**found, **dict.fromkeys(all_unsure, ())}


def record_keys(specs: Iterable[ToolSpec]) -> Mapping[str, tuple[str, ...]]:
    """Return the keys of the records that `checker_stubs` writes.

    Args:
        specs: The tools.
    """
    records = read_specs(specs).records
    return {name: tuple(field.name for field in record.fields) for name, record in records.items()}


def _alternatives(shape: Shape) -> Iterator[str]:
    """Yield the records in a type that stand beside another dict."""
    match shape:
        case ListOf(item) | DictOf(item):
            yield from _alternatives(item)
        case TupleOf(items):
            for item in items:
                yield from _alternatives(item)
        case OneOf(options):
            dicts = [option for option in options if isinstance(option, Named | DictOf)]
            if len(dicts) > 1:
                yield from (option.record for option in dicts if isinstance(option, Named))
            for option in options:
                yield from _alternatives(option)
        case _:
            return


def signature(spec: ToolSpec) -> str:
    """Return a tool's signature in one line, the keys of dicts written out.

    Args:
        spec: The tool.
    """
    catalogue = read_specs([spec], observed=True)
    routine = catalogue.routines[0]
    name = f"{routine.namespace}.{routine.name}" if routine.namespace else routine.name
    text = f"{name}{_Inline(catalogue).signature(routine)}"
    if len(text) > _LONGEST_SIGNATURE:
        catalogue = read_specs([spec], records=False, observed=True)
        text = f"{name}{SourceWriter(catalogue).signature(catalogue.routines[0])}"
    return f"{text}{_mark(spec)}"


def describe(spec: ToolSpec) -> str:
    """Return the description of a tool for authors of scripts.

    Args:
        spec: The tool.
    """
    catalogue = read_specs([spec], observed=True)
    writer = SourceWriter(catalogue, _taken(catalogue.routines))
    routine = catalogue.routines[0]
    records = [writer.record(record, comments=True) for record in catalogue.records.values()]
    name = f"{routine.namespace}.{routine.name}" if routine.namespace else routine.name
    return "\n\n".join([*records, _function(writer, routine, name, words=2)])


class _Inline(SourceWriter):
    """Writes records out where they are used, to a certain depth, and names that are odd."""

    def __init__(self, catalogue: TypedCatalogue) -> None:
        super().__init__(catalogue)
        self._depth = 0

    def further(self, routine: Routine, odd: list[TypedField], *, loose: bool) -> list[str]:
        open_ = super().further(routine, [], loose=loose) if routine.more is not None else []
        return [*([f"**{{{self._fields(odd)}}}"] if odd else []), *open_]

    def type(self, shape: Shape) -> str:
        if not isinstance(shape, Named):
            return super().type(shape)
        if self._depth >= 2:
            return "dict"
        self._depth += 1
        text = self._fields(self._records[shape.record].fields)
        self._depth -= 1
        return f"{{{text}}}"

    def _fields(self, fields: Iterable[TypedField]) -> str:
        return ", ".join(
            f"{literal(f.name)}{'' if f.required else '?'}: {self.type(f.shape)}" for f in fields
        )


def _taken(routines: list[Routine]) -> set[str]:
    return {name for routine in routines for name in (routine.name, routine.namespace)}


def _module(catalogue: TypedCatalogue, routines: list[Routine], closed: frozenset[str]) -> str:
    """Return the text of a module that holds some tools."""
    writer = SourceWriter(catalogue, (routine.name for routine in routines))
    parts = [writer.record(r, comments=False) for r in catalogue.used_by(routines)]
    for routine in routines:
        if routine.spec.name in closed:
            word = writer.word("Any")
            takes = f"(*a: {word}, **k: {word}) -> {word}"
        else:
            takes = writer.signature(routine, loose=True)
        parts.append(f"async def {routine.name}{takes}: ...")
    return "\n".join([writer.header(), *parts]).strip() + "\n"


def _text(catalogue: TypedCatalogue, *, words: int) -> str:
    """Return the text of a catalogue.

    Args:
        catalogue: The tools and their records.
        words: 2: all that is said of them; 1: what the tools are for; 0: nothing.
    """
    writer = SourceWriter(catalogue, _taken(catalogue.routines))
    records = [writer.record(r, comments=words > 1) for r in catalogue.records.values()]
    flat: list[str] = []
    spaces: dict[str, list[str]] = {}
    for routine in catalogue.routines:
        text = _function(writer, routine, routine.name, words=words)
        if routine.namespace:
            inner = "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
            spaces.setdefault(routine.namespace, []).append(f"    @staticmethod\n{inner}")
        else:
            flat.append(text)
    classes = [f"class {space}:\n" + "\n\n".join(texts) for space, texts in spaces.items()]
    parts = [writer.header(), *records, *flat, *classes]
    return "\n\n".join(part for part in parts if part) + "\n"


def _function(writer: SourceWriter, routine: Routine, name: str, *, words: int) -> str:
    start = f"async def {name}{writer.signature(routine)}:"
    about = routine.spec.description.strip()
    if words == 1:
        about = about.split("\n", maxsplit=1)[0]
    lines = about.split("\n") if about and words else []
    odd = odd_parameters(routine)
    told = [p for p in routine.parameters if p.about or p in odd]
    if words > 1 and told:
        args = [_odd(writer, p) if p in odd else f"    {p.name}: {p.about}" for p in told]
        lines += ["", "Args:", *args]
    mark = _mark(routine.spec)
    return f"{start}{mark}\n    {docstring(lines, '    ')}" if lines else f"{start} ...{mark}"


def _odd(writer: SourceWriter, parameter: TypedField) -> str:
    """Return the text about a parameter that no keyword can name."""
    given = f"**{{{literal(parameter.name)}: {writer.type(parameter.shape)}}}"
    about = f": {parameter.about}" if parameter.about else ""
    return f"    {given}{' (required)' if parameter.required else ''}{about}"


def _mark(spec: ToolSpec) -> str:
    """Return the comment on a result that was only observed."""
    if spec.output_schema is not None or not spec.observed:
        return ""
    inner = spec.observed.get("contentSchema")
    if not isinstance(inner, Mapping):
        return "  # observed, not promised"
    catalogue = read_specs([replace(spec, output_schema=inner)])
    text = _Inline(catalogue).type(catalogue.routines[0].result)
    cut = text if len(text) <= _LONGEST_SIGNATURE else f"{beginning(text, _LONGEST_SIGNATURE)}..."
    return f"  # observed, not promised: JSON text of {cut}"
