"""Parsing of texts: Python, JSON, TOML and YAML; nothing is executed or built.

Texts may be hostile. Python's parser bounds its own depth; of YAML only the events are read, so
that neither aliases nor nesting multiply; JSON and TOML recurse within Python's own bound.
"""

import json
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from lineshaft.values import steadily

if TYPE_CHECKING:
    from yaml import Event

_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
_TOO_DEEP = "it is nested too deeply"
_DEEPEST = 500


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text does not parse."""

    language: str
    message: str
    line: int | None = None
    column: int | None = None


Check = Callable[[bytes], SyntaxProblem | None]


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


def _python(data: bytes) -> SyntaxProblem | None:
    try:
        steadily(lambda: _compiled(data))
    except SyntaxError as error:
        return SyntaxProblem(_PYTHON, error.msg or "it does not parse", error.lineno, error.offset)
    except (ValueError, OverflowError) as error:
        return SyntaxProblem(_PYTHON, str(error))
    except (RecursionError, MemoryError):
        return SyntaxProblem(_PYTHON, _TOO_DEEP)
    return None


def _compiled(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(data, "<changed>", "exec", dont_inherit=True)


def _json(data: bytes) -> SyntaxProblem | None:
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as error:
        return _not_text("JSON", data, error)
    return _json_text(text, "JSON")


def _jsonc(data: bytes) -> SyntaxProblem | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_text("JSON with comments", data, error)
    plain = _TRAILING.sub(_blank, _COMMENTS.sub(_blank, text))
    return _json_text(plain, "JSON with comments")


_STRING = r'(?P<text>"(?:[^"\\\n]|\\.)*")'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|,(?=\s*[}}\]])")


def _blank(match: re.Match[str]) -> str:
    """Return spaces for what is left out, so that all else stays in its place."""
    return match["text"] or re.sub(r"[^\n]", " ", match[0])


def _json_text(text: str, language: str) -> SyntaxProblem | None:
    try:
        # Numbers are not made: one of many digits would take its time, and then be refused.
        json.loads(text, parse_int=len, parse_float=len, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        said = "it is empty" if not text.strip() else error.msg
        return SyntaxProblem(language, said, error.lineno, error.colno)
    except ValueError as error:
        return SyntaxProblem(language, str(error))
    except RecursionError:
        return SyntaxProblem(language, _TOO_DEEP)
    return None


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number here")


def _toml(data: bytes) -> SyntaxProblem | None:
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return _not_text("TOML", data, error)
    except ValueError as error:
        return _toml_problem(str(error), data)
    except RecursionError:
        return SyntaxProblem("TOML", _TOO_DEEP)
    return None


def _toml_problem(said: str, data: bytes) -> SyntaxProblem:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", said)
    if place is None:
        return SyntaxProblem("TOML", said)
    if place[1] is None:
        return SyntaxProblem("TOML", f"{said[: place.start()]} at its end", data.count(b"\n") + 1)
    return SyntaxProblem("TOML", said[: place.start()], int(place[1]), int(place[2]))


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
    for event in events:
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


def _not_text(language: str, data: bytes, error: UnicodeDecodeError) -> SyntaxProblem:
    return SyntaxProblem(language, "it is not UTF-8 text", data.count(b"\n", 0, error.start) + 1)


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
