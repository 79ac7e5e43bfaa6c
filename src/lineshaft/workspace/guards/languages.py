"""Parsing of texts: Python, JSON, TOML and YAML; nothing is executed or built.

Texts may be hostile: the parsers of Python, JSON and TOML have texts that keep them busy for hours,
and hold up the whole host meanwhile. They are asked in an instance of the image that runs nothing
else and can be ended; its Python is the newest one, so syntax that the host's Python lacks passes.

YAML alone is read on the host: libyaml is many times faster than what there is for the instance.
Only its events are read, one at a time, so that neither aliases nor nesting multiply; each takes
time in proportion to its text, and between two of them the reading can end.
"""

import atexit
import base64
import json
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from lineshaft.sandbox.webassembly import Asker, GuestStopped, GuestTrapped, image
from lineshaft.values import Struct

if TYPE_CHECKING:
    from yaml import Event

_TOO_DEEP = "it is nested too deeply"
_DEEPEST = 500
_SECONDS = 20.0
"""For one file; the largest that are looked at take half of it."""

_MEMORY_MB = 768
_PARSER = Asker(seconds=_SECONDS, memory_mb=_MEMORY_MB)
"""Kept for the next file: making one takes far longer than parsing most files."""

atexit.register(_PARSER.close)

_SHOWN = {"json": "JSON", "jsonc": "JSON with comments", "toml": "TOML"}


class SyntaxProblem(Struct, frozen=True):
    """Why a text does not parse."""

    language: str
    message: str
    line: int | None = None
    column: int | None = None


Check = Callable[[bytes], SyntaxProblem | None]
"""Parses a text; blocks."""


def language_of(path: str) -> Check | None:
    """Return the parser for a file, by its name; None for all other files."""
    name = PurePosixPath(path).name.lower()
    if "{{" in path or "{%" in path:
        return None  # the template of a file
    if name in _BY_NAME:
        return _BY_NAME[name]
    check = _BY_ENDING.get(PurePosixPath(name).suffix)
    return _jsonc if check is _json and _may_have_comments(path.lower(), name) else check


def is_template(data: bytes) -> bool:
    """Return whether a text has the marks of the usual template languages."""
    return b"{{" in data or b"{%" in data


def _parsed(language: str, data: bytes) -> SyntaxProblem | None:
    """Have a text parsed in the instance.

    Raises:
        WasmUnavailable: This machine or installation cannot run it.
    """
    shown = _SHOWN.get(language) or f"Python {'.'.join(image().python.split('.')[:2])}"
    text = base64.b64encode(data).decode()
    try:
        answer = _PARSER.ask(json.dumps({"do": "parse", "language": language, "data": text}))
    except GuestStopped:
        return SyntaxProblem(shown, f"it takes more than {_SECONDS:g} s to parse")
    except GuestTrapped:
        return SyntaxProblem(shown, _TOO_DEEP)
    match json.loads(answer):
        case {"problem": {"message": str(message), "line": line, "column": column}}:
            return SyntaxProblem(shown, message, _number(line), _number(column))
        case {"problem": None}:
            return None
        case _:
            return SyntaxProblem(shown, "the parser gave no proper answer")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


_python = partial(_parsed, "python")
_json = partial(_parsed, "json")
_jsonc = partial(_parsed, "jsonc")
_toml = partial(_parsed, "toml")


class _Mark(Protocol):
    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


def _yaml(data: bytes) -> SyntaxProblem | None:
    import yaml  # noqa: PLC0415  seldom needed

    try:
        # Tags are not looked up and nothing is built: only the structure is read.
        return _yaml_events(yaml.parse(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        said = error.problem or error.context or "it does not parse"
        return _at(error.problem_mark or error.context_mark, said)
    except yaml.YAMLError as error:
        return SyntaxProblem("YAML", str(error).partition("\n")[0])
    except (ValueError, RecursionError) as error:
        return SyntaxProblem("YAML", str(error) or _TOO_DEEP)


def _yaml_events(events: "Iterable[Event]") -> SyntaxProblem | None:
    import yaml  # noqa: PLC0415  as above

    anchors: set[str] = set()
    depth = 0
    until = time.monotonic() + _SECONDS
    for event in events:
        if time.monotonic() > until:
            return _at(event.start_mark, f"it takes more than {_SECONDS:g} s to parse")
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.DocumentStartEvent):
            anchors.clear()
        if depth > _DEEPEST:
            return _at(event.start_mark, _TOO_DEEP)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in anchors:
                return _at(event.start_mark, f"the alias {str(event.anchor)!r} names no anchor")
        elif isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            anchors.add(event.anchor)
    return None


def _at(mark: _Mark | None, said: str) -> SyntaxProblem:
    if mark is None:
        return SyntaxProblem("YAML", said)
    return SyntaxProblem("YAML", said, mark.line + 1, mark.column + 1)


def _may_have_comments(path: str, name: str) -> bool:
    folder = PurePosixPath(path).parent.name
    return (
        folder in (".vscode", ".devcontainer", ".zed")
        or name.startswith(("tsconfig", "jsconfig", ".eslintrc", "api-extractor", "wrangler"))
        or name in _WITH_COMMENTS
    )


_WITH_COMMENTS = frozenset(
    {
        *("devcontainer.json", ".devcontainer.json", "tslint.json", "typedoc.json", "deno.json"),
        *("nx.json", "turbo.json", "biome.json", "cspell.json", ".cspell.json"),
        *("pyrightconfig.json", ".babelrc.json", ".jshintrc.json", ".markdownlint.json"),
        *("angular.json", "language-configuration.json", ".swcrc", ".hintrc"),
    }
)
_BY_ENDING: Mapping[str, Check] = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), _python),
    **dict.fromkeys((".json", ".geojson", ".ipynb", ".webmanifest", ".har"), _json),
    **dict.fromkeys((".jsonc", ".code-workspace"), _jsonc),
    ".toml": _toml,
    **dict.fromkeys((".yaml", ".yml"), _yaml),
}
_BY_NAME: Mapping[str, Check] = {
    **dict.fromkeys(("cargo.lock", "pipfile", "poetry.lock", "uv.lock"), _toml),
    **dict.fromkeys((".clang-format", ".clang-tidy"), _yaml),
    **dict.fromkeys((".babelrc", ".eslintrc", ".jshintrc", ".swcrc", ".hintrc"), _jsonc),
}
