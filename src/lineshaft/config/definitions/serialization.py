"""A server as text of our own file."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from lineshaft.config.definitions.definition import ServerSetting
from lineshaft.config.definitions.variables import Input, references

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(server: ServerSetting, *, within: Sequence[str] = ()) -> str:
    """Return the table that describes a server.

    Args:
        server: What it is to say.
        within: The keys of the table in the file that holds our settings.
    """
    header = ".".join(map(_key, (*within, "mcp", "servers", server.name)))
    lines = [f"[{header}]", *(f"{key} = {_value(value)}" for key, value in _said(server).items())]
    return "\n".join(lines) + "\n"


def _said(server: ServerSetting) -> Mapping[str, object]:
    """Return what has to be said, in the order in which people write it."""
    tools: object = list(server.include)
    if server.exclude:
        both = {"include": list(server.include), "exclude": list(server.exclude)}
        tools = {name: globs for name, globs in both.items() if globs}
    said: dict[str, object] = {
        "command": server.command,
        "args": list(server.args),
        "env": dict(server.env),
        "env_file": server.env_file,
        "cwd": server.cwd,
        "url": server.url,
        "headers": dict(server.headers),
        "auth": server.auth if isinstance(server.auth, str) else dict(server.auth),
        "tools": tools,
        "seconds": server.seconds,
        "inputs": [_input(each) for each in _inputs(server)],
    }
    return {key: value for key, value in said.items() if value not in ("", [], {}, None)}


def _inputs(server: ServerSetting) -> list[Input]:
    names = dict.fromkeys(references(server.texts()))
    asked = [name.partition(":")[2] for name in names if name.startswith("input:")]
    return [server.inputs[name] for name in asked if name in server.inputs]


def _input(wanted: Input) -> dict[str, object]:
    table: dict[str, object] = {
        "id": wanted.id,
        "description": wanted.description,
        "default": wanted.default,
        "options": list(wanted.options),
    }
    return {key: value for key, value in table.items() if value not in ("", [], None)}


def _value(value: object) -> str:
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return (
            f"{{ {', '.join(f'{_key(name)} = {_value(each)}' for name, each in table.items())} }}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_value, cast('list[object]', value)))}]"
    if isinstance(value, float):
        return f"{value:g}"
    return _text(str(value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    # What JSON escapes, TOML escapes alike; but for one character, which JSON lets stand.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
