"""What may cross between a script and its host: JSON-like values."""

import math
import re
from collections.abc import Callable, Iterable
from typing import cast

_ODD = re.compile(
    r"<.*>|range\(.*\)|slice\(.*\)|dict_(?:keys|values|items)\(.*\)|\{\.\.\.\}|\[\.\.\.\]",
    re.DOTALL,
)
_ODD_STARTS = frozenset("<rsd{[")
_FUNCTION = re.compile(r"<(?:function '.*' at 0x[0-9a-f]+|tool \w+|bound method|coroutine .*)>")

_ATOMS = frozenset({type(None), bool, int, str})
_SCALARS = frozenset({type(None), bool, int, float})

_KINDS = {
    "MontyClassProxy": "instance of the class",
    "MontyClassTypeProxy": "class",
    "MontyStdTypeProxy": "builtin",
    "ExternalModule": "module",
    "PurePosixPath": "Path",
    "type": "class",
}


class NotPlain(Exception):
    """A value that is not JSON-like."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind
        """What it is, with an article."""

        self.path = ""
        """Where in the value it was found, as Python would write it."""

    def inside(self, step: str) -> "NotPlain":
        """Return the same, found one level further out."""
        self.path = step + self.path
        return self

    def sentence(self, name: str) -> str:
        """Return what is wrong with the value called `name`."""
        return f"{name}{self.path} is not JSON: it is {self.kind}"


def plain(value: object) -> object:
    """Return a value with its tuples turned into lists.

    Raises:
        NotPlain: It is not None, bool, int, finite float, str, or a list or a dict with str
            keys of such, or it is nested too deeply.
    """
    try:
        return _plain(value)
    except RecursionError:
        raise NotPlain("nested too deeply") from None


def plain_argument(value: object) -> object:
    """Return what `plain` does, and refuse text that stands for a function.

    Raises:
        NotPlain: As `plain` does.
    """
    result = plain(value)
    for path, text in texts(result, _is_function):
        raise NotPlain(f"a function, {text}").inside(path)
    return result


def texts(value: object, wanted: Callable[[str], object]) -> list[tuple[str, str]]:
    """Return the texts in a JSON-like value that are wanted, each after its path."""
    if isinstance(value, str):
        return [("", value)] if wanted(value) else []
    steps: Iterable[tuple[object, object]] = ()
    if isinstance(value, list):
        steps = enumerate(cast("list[object]", value))
    elif isinstance(value, dict):
        steps = cast("dict[object, object]", value).items()
    found: list[tuple[str, str]] = []
    for step, item in steps:
        if type(item) in _SCALARS:
            continue
        inside = texts(item, wanted)
        if inside:
            found += [(f"[{step!r}]{path}", text) for path, text in inside]
    return found


def scrubbed(value: object) -> object:
    """Return a JSON-like value whose texts can be written as UTF-8: the rest becomes `?`."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list | tuple):
        return [scrubbed(item) for item in cast("Iterable[object]", value)]
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return {scrubbed(key): scrubbed(item) for key, item in items}
    return value


def is_odd(text: str) -> bool:
    """Return whether a text may stand for something that could not cross."""
    return text[:1] in _ODD_STARTS and _ODD.fullmatch(text) is not None


def _is_function(text: str) -> bool:
    return text[:1] == "<" and _FUNCTION.fullmatch(text) is not None


def _plain(value: object) -> object:
    if type(value) in _ATOMS or isinstance(value, int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise NotPlain(f"the float {value}")
    if isinstance(value, list | tuple):
        return _plain_list(cast("Iterable[object]", value))
    if isinstance(value, dict):
        return _plain_dict(cast("dict[object, object]", value))
    raise NotPlain(_kind(value))


def _plain_list(items: Iterable[object]) -> list[object]:
    result: list[object] = []
    for item in items:
        try:
            result.append(item if type(item) in _ATOMS else _plain(item))
        except NotPlain as error:
            raise error.inside(f"[{len(result)}]") from None
    return result


def _plain_dict(items: dict[object, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, item in items.items():
        if not isinstance(key, str):
            raise NotPlain(f"a dict with the key {key!r}, which is not a str")
        try:
            result[key] = item if type(item) in _ATOMS else _plain(item)
        except NotPlain as error:
            raise error.inside(f"[{key!r}]") from None
    return result


def _kind(value: object) -> str:
    name = type(value).__name__
    kind = _KINDS.get(name, name)
    owner = getattr(value, "name", None) if name.startswith("Monty") else None
    article = "an" if kind[:1] in "aeiouAEIOU" else "a"
    return f"{article} {kind} {owner}" if owner else f"{article} {kind}"
