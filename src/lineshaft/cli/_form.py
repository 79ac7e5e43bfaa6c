"""The questions of a form that a tool wants filled in. Pure: texts come in, values go out."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from lineshaft.cli._terminal import one_line
from lineshaft.values import Struct

_YES = frozenset({"y", "yes", "true", "1", "on"})
_NO = frozenset({"n", "no", "false", "0", "off"})
_MOST_FIELDS = 50
_MOST_OPTIONS = 100

Table = Mapping[str, object]


class UnfitAnswer(Exception):
    """The text typed is no answer to the field; the message says which would be."""


class FormField(Struct, frozen=True, kw_only=True):
    """One value that is asked for."""

    name: str
    kind: str
    """`string`, `number`, `integer`, `boolean`, or `array` of options."""

    title: str
    text: str
    options: tuple[tuple[object, str], ...]
    """What may be chosen, each with its words; anything where there are none."""

    required: bool
    default: object
    schema: Table

    @property
    def question(self) -> str:
        """Return what is asked, on one line."""
        kinds = {"boolean": "y/n", "array": "numbers", "integer": "whole number"}
        kind = "number of one" if self.options and self.kind != "array" else self.kind
        notes = [kinds.get(kind, "text" if kind == "string" else kind)]
        if self.default is not None:
            notes.append(f"empty: {one_line(str(self.default), 60)}")
        elif not self.required:
            notes.append("may be empty")
        return f"{one_line(self.title, 80)} ({', '.join(notes)})"

    def lines(self) -> Iterator[str]:
        """Yield what a person should read before they answer."""
        if self.text:
            yield f"  {one_line(self.text, 500)}"
        for number, (_, words) in enumerate(self.options, 1):
            yield f"  {number}. {one_line(words, 100)}"

    def read(self, typed: str) -> object:
        """Return the value that was typed; None: it is left out.

        Raises:
            Unfit: It is none.
        """
        text = typed.strip()
        if not text:
            if self.default is not None or not self.required:
                return self.default
            raise UnfitAnswer("this one is needed; ! declines")
        if self.kind == "array":
            return [self._chosen(word) for word in text.replace(",", " ").split()]
        if self.options:
            return self._chosen(text)
        match self.kind:
            case "boolean":
                return _truth(text)
            case "integer" | "number":
                return self._number(text)
            case _:
                return self._text(text)

    def _chosen(self, word: str) -> object:
        if word.isdecimal() and 0 < int(word[:6]) <= len(self.options):
            return self.options[int(word[:6]) - 1][0]
        for value, words in self.options:
            if word in (str(value), words):
                return value
        raise UnfitAnswer(f"choose by number, 1 to {len(self.options)}")

    def _number(self, text: str) -> float:
        try:
            value = int(text) if self.kind == "integer" else float(text)
        except ValueError:
            whole = "whole " if self.kind == "integer" else ""
            raise UnfitAnswer(f"this is to be a {whole}number") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise UnfitAnswer("this is to be a number that is finite")
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        if isinstance(low, int | float) and value < low:
            raise UnfitAnswer(f"not below {low:g}")
        if isinstance(high, int | float) and value > high:
            raise UnfitAnswer(f"not above {high:g}")
        return value

    def _text(self, text: str) -> str:
        fewest, most = self.schema.get("minLength"), self.schema.get("maxLength")
        if isinstance(fewest, int) and len(text) < fewest:
            raise UnfitAnswer(f"at least {fewest} characters")
        if isinstance(most, int) and len(text) > most:
            raise UnfitAnswer(f"at most {most} characters")
        return text


def fields_of(schema: Table) -> tuple[FormField, ...]:
    """Return what a form asks for, in its order.

    Args:
        schema: A flat object of strings, numbers, booleans and choices, as MCP allows it.
    """
    properties = _table(schema.get("properties"))
    required = schema.get("required")
    needed = set(map(str, cast("list[object]", required if isinstance(required, list) else [])))
    return tuple(
        _field(name, _table(content), required=name in needed)
        for name, content in list(properties.items())[:_MOST_FIELDS]
    )


def _field(name: str, schema: Table, *, required: bool) -> FormField:
    kind = schema.get("type")
    items = _table(schema.get("items")) if kind == "array" else schema
    return FormField(
        name=name,
        kind=kind if isinstance(kind, str) else "string",
        title=str(schema.get("title") or name),
        text=str(schema.get("description") or ""),
        options=tuple(_options(items))[:_MOST_OPTIONS],
        required=required,
        default=schema.get("default"),
        schema=schema,
    )


def _options(schema: Table) -> Iterator[tuple[object, str]]:
    values = schema.get("enum")
    if isinstance(values, list):
        listed = cast("Sequence[object]", values)
        names = schema.get("enumNames")
        words = cast("Sequence[object]", names) if isinstance(names, list) else listed
        for at, value in enumerate(listed):
            yield value, str(words[at] if at < len(words) else value)
    for key in ("oneOf", "anyOf"):
        each = schema.get(key)
        for option in map(_table, cast("list[object]", each) if isinstance(each, list) else []):
            if "const" in option:
                yield option["const"], str(option.get("title") or option["const"])


def _truth(text: str) -> bool:
    word = text.casefold()
    if word in _YES | _NO:
        return word in _YES
    raise UnfitAnswer("y or n")


def _table(value: object) -> Table:
    return cast("Table", value) if isinstance(value, dict) else {}
