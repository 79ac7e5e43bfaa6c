"""Removal of secrets from data that is kept, shown or cut.

Redaction comes before cutting, since half a secret cannot be recognised.
Not covered: secrets that have no known form, no telling name and were not given as values.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import cached_property
from typing import Any, cast
from urllib.parse import quote

from lineshaft.trace._formats import FORMATS, HIDDEN, Format
from lineshaft.trace._names import holds_secret
from lineshaft.trace._plain import PLAIN_FORMATS, is_word
from lineshaft.values import NO_SECRETS, Arguments, ToolSpec, looks_secret

SHORTEST_SECRET = 4
"""Characters of a given secret at the least: shorter ones would hide ordinary text."""

_SHORTEST_FORMAT = 15
_SHORTEST_LINE = 16
_NUMBER = re.compile(r"-?(?=[\d.]{6})\d+(?:\.\d+)?", re.ASCII)
"""Given secrets that a number is compared with: one that is shorter is mostly a count."""

_DEEPEST = 100
_LONG = 200
_LONG_CONTENT = 80
_LARGE = 2_000
_MOST_LOOKED_AT = 256_000
"""Characters of one call's arguments: the event loop waits while they are looked through."""

_PER_ITEM = 4
_LONGEST_NUMBER = 2_000
"""In bits: Python writes any such integer as text, however it is set up."""

_CONTENTS = frozenset({"body", "code", "content", "data", "new", "old", "patch", "text"})
_NUMBERS = frozenset({int, float, bool, type(None)})
_MISSING: Mapping[str, object] = {}
_NONE: frozenset[str] = frozenset()


class Redactor:
    """Replaces secrets with `[redacted]`: known formats, telling names, and given values.

    Args:
        secrets: Values that must not be seen, of 4 characters or more.
        acting: Text that may act is not hidden: for who decides on it. What stands behind a telling
            name is a secret only where it is one plain word; anything else is shown.
    """

    def __init__(self, secrets: Iterable[str] = (), *, acting: bool = False) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        self._acting = acting
        self._formats = PLAIN_FORMATS if acting else FORMATS
        self._secrets = sorted(forms, key=len, reverse=True)
        self._numbers = frozenset(filter(_NUMBER.fullmatch, forms))
        self._shown: dict[str, tuple[ToolSpec, frozenset[str]]] = {}

    @cached_property
    def acting(self) -> "Redactor":
        """The same secrets, for text that a person or an approver decides on."""
        return self if self._acting else Redactor(self._secrets, acting=True)

    @property
    def overlap(self) -> int:
        """Characters around a cut that are looked at, where text is cut before it is redacted."""
        return max(NO_SECRETS.overlap, len(self._secrets[0]) if self._secrets else 0)

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return where secrets stand in a text, those whose end is missing included."""
        found = [span for secret in self._secrets for span in _places(secret, text)]
        for known in _formats_in(text, self._formats):
            found += [match.span() for match in known.pattern().finditer(text)]
        return found

    def text(self, text: str) -> str:
        """Return a text without its secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        if len(text) < _SHORTEST_FORMAT and not any(map(text.__contains__, "=: \t")):
            return text
        for known in _formats_in(text, self._formats):
            text = known.pattern().sub(known.put, text)
        return text

    def value(self, value: object) -> object:
        """Return a JSON-like copy of a value without its secrets.

        Texts are redacted, and so is any value under a name such as `password`. Values of
        Lineshaft's classes become dicts; values nested more than 100 deep are left out.
        """
        return self._value(value, 0)

    def arguments(self, spec: ToolSpec | None, arguments: Arguments) -> dict[str, object]:
        """Return arguments as a record shows them: no secrets, sizes and hashes for contents.

        A long text becomes `{"bytes": ..., "sha256": ...}` of the redacted text, so that the hash
        of a text with a secret in it is no way to guess the secret. What is more than 256,000
        characters, in all arguments together, is not looked through: it becomes `{"bytes": ...}`,
        and a list or dict `{"items": ...}`.

        Args:
            spec: The tool, whose schema may call an argument a password; None where unknown.
            arguments: By name, as bound.
        """
        shown = self._names_shown(spec)
        passwords = spec.secrets if spec is not None else ()
        made: dict[str, object] = {}
        left = _MOST_LOOKED_AT
        for given, value in cast("Mapping[object, object]", arguments).items():
            name = given if type(given) is str else str(given)  # of a refused call: anything
            if name in passwords:
                made[name] = self._covered(value)
            elif name not in shown and looks_secret(name):
                made[name] = self._hidden(value, 0)
            elif type(value) is str and len(value) <= _LONG_CONTENT:
                made[name] = self.text(value)
            elif (weight := _weight(value, left)) > left:
                made[name] = _size(value)
            else:
                left -= weight
                made[name] = self._argument(name, self._without(value, passwords), 0)
        return made if shown.issuperset(made) else self.named(made.items())

    def whole(self, spec: ToolSpec | None, arguments: Arguments) -> dict[str, object]:
        """Return arguments without their secrets and otherwise whole, for an approver.

        Nothing that may act is hidden. A word under a telling name becomes `[redacted, 38
        characters]`.

        Args:
            spec: As for `arguments`.
            arguments: By name, as bound.
        """
        if not self._acting:
            return self.acting.whole(spec, arguments)
        shown = self._names_shown(spec)
        passwords = spec.secrets if spec is not None else ()
        made: dict[str, object] = {}
        for name, value in _by_text(arguments):
            if name in passwords:
                made[name] = self._covered(value)
            elif name not in shown and looks_secret(name):
                made[name] = self._hidden(value, 0)
            else:
                made[name] = self._value(self._without(value, passwords), 0)
        return made if shown.issuperset(made) else self.named(made.items())

    def _names_shown(self, spec: ToolSpec | None) -> frozenset[str]:
        """Return the names of arguments that hold no secret, as far as the tool declares them."""
        if spec is None:
            return _NONE
        known = self._shown.get(spec.name)
        if known is None or known[0] is not spec:
            declared = cast("Mapping[str, object]", spec.input_schema.get("properties", _MISSING))
            shown = {name for name in declared if not looks_secret(name)}
            known = self._shown[spec.name] = spec, frozenset(shown | {p[0] for p in spec.paths})
        return known[1]

    def _value(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | int | float):
            return self._number(value)
        if depth >= _DEEPEST:
            return f"[deeper than {_DEEPEST} levels]"
        return self._container(value, depth)

    def _container(self, value: object, depth: int) -> object:
        if isinstance(value, dict | Mapping):
            return self.named(
                (
                    name,
                    self._hidden(item, depth + 1)
                    if holds_secret(name)
                    else self._value(item, depth + 1),
                )
                for name, item in _by_text(cast("Mapping[Any, object]", value))
            )
        if isinstance(value, list | tuple | set | frozenset):
            return self._items(cast("Iterable[object]", value), None, depth)
        if is_dataclass(value) and not isinstance(value, type):
            return self._container(asdict(value), depth)
        return self.text(str(value))

    def _argument(self, name: str, value: object, depth: int) -> object:
        """Redact one argument, or part of one, and summarise long texts."""
        if type(value) in _NUMBERS:
            return self._number(value)
        if isinstance(value, str):
            text = self.text(value)
            long = len(value) > (_LONG_CONTENT if name in _CONTENTS else _LONG)
            return _summary(text) if long else text
        if depth >= _DEEPEST or not isinstance(value, dict | list | tuple):
            return self._value(value, depth)
        if isinstance(value, dict):
            found: object = self.named(
                (
                    key,
                    self._hidden(item, depth + 1)
                    if looks_secret(key)
                    else self._argument(key, item, depth + 1),
                )
                for key, item in _by_text(cast("dict[object, object]", value))
            )
        else:
            found = self._items(cast("Iterable[object]", value), name, depth)
        return found if depth else _bounded(found)

    def named(self, items: Iterable[tuple[str, object]]) -> dict[str, object]:
        """Return values by their names without secrets; two that become one are told apart."""
        made: dict[str, object] = {}
        numbers: dict[str, int] = {}
        for key, item in items:
            name = plain = self.text(key)
            while name in made:
                numbers[plain] = numbers.get(plain, 1) + 1
                name = f"{plain} ({numbers[plain]})"
            made[name] = item
        return made

    def _number(self, value: object) -> object:
        """Return a number; its size where it cannot be written as text, or what hides a secret."""
        if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
            return f"[integer of {value.bit_length():,} bits]"
        return HIDDEN if self._numbers and str(value) in self._numbers else value

    def _items(self, items: Iterable[object], name: str | None, depth: int) -> list[object]:
        """Redact a list; the item after a flag such as `--token` is a secret too."""
        out: list[object] = []
        flag = False
        for item in items:
            text = item if isinstance(item, str) else ""
            if flag and text and not text.startswith("-") and not self._shows(text):
                out.append(HIDDEN)
            elif name is None:
                out.append(self._value(item, depth + 1))
            else:
                out.append(self._argument(name, item, depth + 1))
            flag = text.startswith("-") and "=" not in text and looks_secret(text)
        return out

    def _hidden(self, value: object, depth: int) -> object:
        """Hide a value by its name; a boolean, None or an empty value is no secret."""
        if value is None or isinstance(value, bool) or value == "":
            return value
        if not self._acting:
            return HIDDEN
        if isinstance(value, str | int | float) and not self._shows(
            said := str(self._number(value))
        ):
            return f"{HIDDEN[:-1]}, {len(said):,} character{'s' if len(said) > 1 else ''}]"
        return self._value(value, depth)

    def _covered(self, value: object, depth: int = 0) -> object:
        """Hide a password, or each of those in a list or dict."""
        if isinstance(value, list) and depth < _DEEPEST:
            return [self._covered(item, depth + 1) for item in cast("list[object]", value)]
        if isinstance(value, dict) and depth < _DEEPEST:
            items = _by_text(cast("dict[object, object]", value))
            return self.named((key, self._covered(item, depth + 1)) for key, item in items)
        return self._hidden(cast("object", value), depth)

    def _without(self, value: object, passwords: Sequence[str], depth: int = 0) -> object:
        """Return a value in which the fields of some names are covered."""
        if not passwords or depth >= _DEEPEST:
            return value
        if isinstance(value, list):
            items = cast("list[object]", value)
            return [self._without(item, passwords, depth + 1) for item in items]
        if isinstance(value, dict):
            return {
                key: self._covered(item)
                if key in passwords
                else self._without(item, passwords, depth + 1)
                for key, item in _by_text(cast("dict[object, object]", value))
            }
        return value

    def _shows(self, text: str) -> bool:
        """Return whether a text may act, and is shown whatever stands before it."""
        return self._acting and not is_word(text)


def _places(secret: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(secret)
    while at >= 0:
        yield at, at + len(secret)
        at = text.find(secret, at + 1)


def _forms(secret: str) -> set[str]:
    """Return the spellings of a secret: as it is, in a URL, in JSON, and line by line."""
    lines = [line.strip() for line in secret.splitlines()]
    long = [line for line in lines if len(line) >= _SHORTEST_LINE] if len(lines) > 1 else []
    forms = {secret, secret.strip(), quote(secret, safe=""), json.dumps(secret)[1:-1], *long}
    return {form for form in forms if len(form) >= SHORTEST_SECRET and form not in HIDDEN}


def _formats_in(text: str, formats: Sequence[Format]) -> list[Format]:
    """Return the formats of which a text may hold a secret.

    Plain loops, and one function: this is on the way of every call.
    """
    found: list[Format] = []
    lower: str | None = None
    for known in formats:
        looked_in = text
        if known.needs:
            for char in known.needs:
                if char in text:
                    break
            else:
                continue
            looked_in = lower = text.lower() if lower is None else lower
        for sign in known.signs:
            if sign in looked_in:
                found.append(known)
                break
    return found


def _by_text(values: Mapping[Any, object]) -> Iterator[tuple[str, object]]:
    """Iterate over the items of a mapping; a key of a call that was refused may be anything."""
    for key, value in values.items():
        yield key if type(key) is str else str(key), value


def _weight(value: object, most: int) -> int:
    """Return about how many characters a value has; where it is more than `most`, any such."""
    found = 0
    left: list[object] = [value]
    while left and found <= most:
        part = left.pop()
        if isinstance(part, str):
            found += len(part)
        elif isinstance(part, dict):
            items = cast("dict[object, object]", part)
            found += len(items) * _PER_ITEM
            if found <= most:
                left += items
                left += items.values()
        elif isinstance(part, list | tuple):
            members = cast("Sequence[object]", part)
            found += len(members) * _PER_ITEM
            if found <= most:
                left += members
    return found


def _size(value: object) -> dict[str, object]:
    """Return how large a text, a list or a dict is, without a look at what is in it."""
    if isinstance(value, str):
        return {"bytes": len(value.encode("utf-8", "surrogatepass"))}
    return {"items": len(cast("Sequence[object]", value))}


def _summary(text: str) -> dict[str, object]:
    data = text.encode("utf-8", "surrogatepass")
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _bounded(value: object) -> object:
    """Return a container, or its size and hash where a record should not hold all of it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return value if len(text) <= _LARGE else _summary(text)
