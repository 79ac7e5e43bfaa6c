"""`name=text` and `name:=json`, as arguments of scripts and tools."""

import json
import re
from collections.abc import Iterable, Sequence
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


def inputs_of(args: Sequence[str], words: Iterable[str]) -> dict[str, object]:
    """Return the inputs of a script of the command line.

    Args:
        args: The words behind it.
        words: The values of `--arg`.

    Raises:
        ConfigError: One of them cannot be used, or `args` is among them.
    """
    pairs = read_pairs(words)
    if "args" in pairs:
        raise ConfigError(
            "--arg args would hide the words behind the script, which it finds in args",
            hint="write them there, or give the input another name",
        )
    return {"args": list(args), **pairs}


def _json(name: str, text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"the argument {name!r} is not JSON: {error}",
            hint=f"write {name}=TEXT for plain text, and quote JSON from the shell: '{name}:=[1]'",
        ) from error
