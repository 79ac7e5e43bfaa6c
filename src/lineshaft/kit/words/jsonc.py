"""JSON with comments and trailing commas, as editors and spelling checkers read it.

Comments are replaced by blanks, so that places in the text stay what they are.
"""

import json
import re
from json.decoder import JSONDecoder
from typing import cast

_BLANK = " \t\r\n"
_OTHER_LINE_END = re.compile("\r(?!\n)|[\u2028\u2029]")
"""What ends a line, and so a comment, for some readers and not for others."""


def read_jsonc(text: str) -> object:
    """Return the value of a text.

    Raises:
        ValueError: It is malformed; names line and column.
    """
    return _value(plain_json(text))


def _value(plain: str) -> object:
    try:
        return json.loads(plain)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def plain_json(text: str) -> str:
    """Return a text of the same length, comments and trailing commas blanked.

    Raises:
        ValueError: A comment or a text in quotes has no end, or a line ends outside of texts by a
            sign that other readers do not take for an end.
    """
    odd = _OTHER_LINE_END.search(text) is not None
    out = list(text)
    at, comma = (1 if text.startswith("\ufeff") else 0), -1
    out[:at] = [" "] * at
    while at < len(text):
        if text[at] == '"':
            end, comma = _end_of_text(text, at), -1
            at = end
            continue
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            out[at:end] = " " * (end - at)
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2) + 2
            if end < 2:
                raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: a comment has no end")
            out[at:end] = [c if c == "\n" else " " for c in text[at:end]]
        else:
            end = at + 1
            if text[at] in "]}" and comma >= 0:
                out[comma] = " "
            if text[at] not in _BLANK:
                comma = at if text[at] == "," else -1
        if odd and (found := _OTHER_LINE_END.search(text, at, end + 1)) and found.start() < end:
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(f"line {line}: {found[0]!r} outside of texts; lines end with \\n")
        at = end
    return "".join(out)


def list_places(text: str, key: str) -> tuple[int, int, list[str]] | None:
    """Return where a list of texts stands in the outermost object, and its items.

    Args:
        text: JSON with comments.
        key: The list's key.

    Returns:
        The place of the opening bracket, the place after the last item (after the bracket where
        there is none), and the items; None where there is no such key.

    Raises:
        ValueError: The text is malformed, no object, or the value is no list of texts.
    """
    plain = plain_json(text)
    if not isinstance(_value(plain), dict):
        raise ValueError("it is no object")  # noqa: TRY004  of its content, not of a type
    at = plain.index("{") + 1
    while True:
        at = _skip(plain, at)
        if plain[at] == "}":
            return None
        if plain[at] == ",":
            at += 1
            continue
        name, at = JSONDecoder().raw_decode(plain, at)
        at = _skip(plain, _skip(plain, at) + 1)
        value, end = JSONDecoder().raw_decode(plain, at)
        if name == key:
            if not isinstance(value, list) or not all(
                isinstance(item, str) for item in cast("list[object]", value)
            ):
                raise ValueError(f"{key!r} is no list of texts")
            items = cast("list[str]", value)
            last = end - 1
            while plain[last - 1] in _BLANK:
                last -= 1
            return at, last if items else at + 1, items
        at = end


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _end_of_text(text: str, at: int) -> int:
    end = at + 1
    while end < len(text):
        if text[end] == "\\":
            end += 2
        elif text[end] == '"':
            return end + 1
        else:
            end += 1
    raise ValueError(f"line {text.count(chr(10), 0, at) + 1}: a text in quotes has no end")
