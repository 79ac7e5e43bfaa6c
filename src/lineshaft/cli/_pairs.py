"""`name=text` and `name:=json`, as arguments of scripts and tools."""

import json
import re
from collections.abc import Iterable
from typing import cast

from lineshaft.errors import ConfigError

_PAIR = re.compile(r"([^=:\s]+)(:?=)(.*)", re.DOTALL)


def read_pairs(words: Iterable[str]) -> dict[str, object]:
    """Return arguments by name.

    Args:
        words: Each `name=text`, or `name:=json` for numbers, lists and the like.

    Raises:
        ConfigError: A word is neither, is not JSON, or a name comes twice.
    """
    found: dict[str, object] = {}
    for word in words:
        match = _PAIR.fullmatch(word)
        if match is None:
            hint = "arguments have names: path=notes.txt, limit:=3"
            raise ConfigError(f"{word!r} is not name=text or name:=json", hint=hint)
        name, sign, text = match.groups()
        if name in found:
            raise ConfigError(f"the argument {name!r} is given twice")
        found[name] = _json(name, text) if sign == ":=" else text
    return found


def _json(name: str, text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"the argument {name!r} is not JSON: {error}",
            hint=f"write {name}=TEXT for plain text, and quote JSON from the shell: '{name}:=[1]'",
        ) from error
