"""Parses of files that are not ours: Python, JSON and TOML; nothing is executed or built.

It is done in here because files may be hostile: each of these parsers has texts that keep it busy
for hours, and only an instance can be ended. The Python is the newest one, too.
"""

import base64
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

_TOO_DEEP = "it is nested too deeply"

_Problem = dict[str, Any]


def run(order: dict[str, Any], wire: object) -> Mapping[str, Any]:
    """Return what keeps a file from being parsed, as `problem`; None: nothing.

    Args:
        order: `language`, a key of the table below; `data`, in base64.
        wire: The host; nothing is asked of it.
    """
    del wire
    return {"problem": _LANGUAGES[order["language"]](base64.b64decode(order["data"]))}


def _problem(message: str, line: int | None = None, column: int | None = None) -> _Problem:
    return {"message": message, "line": line, "column": column}


def _python(data: bytes) -> _Problem | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(data, "<changed>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return _problem(error.msg or "it does not parse", error.lineno, error.offset)
    except (ValueError, OverflowError) as error:
        return _problem(str(error))
    except (RecursionError, MemoryError):
        return _problem(_TOO_DEEP)
    return None


def _json(data: bytes) -> _Problem | None:
    try:
        text = data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as error:
        return _not_text(data, error)
    return _json_text(text)


def _jsonc(data: bytes) -> _Problem | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_text(data, error)
    return _json_text(_TRAILING.sub(_blank, _COMMENTS.sub(_blank, text)))


_STRING = r'(?P<text>"(?:[^"\\\n]|\\.)*+"?)'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|,(?=\s*[}}\]])")


def _blank(match: re.Match[str]) -> str:
    """Return spaces for what is left out, so that all else stays in its place."""
    return match["text"] or re.sub(r"[^\n]", " ", match[0])


def _json_text(text: str) -> _Problem | None:
    try:
        # Numbers are not made: one of many digits would take its time, and then be refused.
        json.loads(text, parse_int=len, parse_float=len, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        said = "it is empty" if not text.strip() else error.msg
        return _problem(said, error.lineno, error.colno)
    except ValueError as error:
        return _problem(str(error))
    except RecursionError:
        return _problem(_TOO_DEEP)
    return None


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no number here")


def _toml(data: bytes) -> _Problem | None:
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return _not_text(data, error)
    except ValueError as error:
        return _toml_problem(str(error), data)
    except RecursionError:
        return _problem(_TOO_DEEP)
    return None


def _toml_problem(said: str, data: bytes) -> _Problem:
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", said)
    if place is None:
        return _problem(_TOO_DEEP if "nested" in said else said)
    if place[1] is None:
        return _problem(f"{said[: place.start()]} at its end", data.count(b"\n") + 1)
    return _problem(said[: place.start()], int(place[1]), int(place[2]))


def _not_text(data: bytes, error: UnicodeDecodeError) -> _Problem:
    return _problem("it is not UTF-8 text", data.count(b"\n", 0, error.start) + 1)


_LANGUAGES: Mapping[str, Callable[[bytes], _Problem | None]] = {
    "python": _python,
    "json": _json,
    "jsonc": _jsonc,
    "toml": _toml,
}
