"""Inputs of a caller beside a script, and for a single call."""

import keyword
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pydantic_core

from lineshaft.errors import ConfigError

_FILE = re.compile(r"[\w.~/\\-]+\.py")


def script_text(script: str | Path, name: str) -> tuple[str, str]:
    """Return a script's text, and what tracebacks call it.

    Raises:
        ConfigError: Its file cannot be read, or its text is a name of a file.
    """
    if not isinstance(script, Path):
        if isinstance(cast("object", script), str) and _FILE.fullmatch(script.strip()):
            hint = f"to run a file, pass Path({script.strip()!r})"
            raise ConfigError(f"the script is the name of a file: {script.strip()!r}", hint=hint)
        return script, name
    try:
        return script.read_text("utf-8"), script.name
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the script {str(script)!r} cannot be read: {error}") from error


def checked_inputs(inputs: Mapping[str, object] | None) -> dict[str, object]:
    """Return the inputs as plain JSON-like values.

    Raises:
        ConfigError: A name is not an identifier, or a value is not JSON.
    """
    plain: dict[str, object] = {}
    given: Mapping[object, object] = {**inputs} if inputs else {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ConfigError(f"input {name!r} is not a name that a script can use")
        try:
            text = pydantic_core.to_json(value, inf_nan_mode="constants")
            plain[name] = pydantic_core.from_json(text, allow_inf_nan=False)
        except (pydantic_core.PydanticSerializationError, ValueError) as error:
            kind = type(value).__name__
            raise ConfigError(f"input {name!r} is not JSON: {kind} ({error})") from error
    return plain


def checked_arguments(tool: object, arguments: object) -> Mapping[str, object]:
    """Return the arguments of a single call.

    Raises:
        ConfigError: The tool's name is no text, or the arguments do not go by name.
    """
    if not isinstance(tool, str):
        raise ConfigError(f"a tool is called by its name, not by {tool!r}")
    if arguments is None:
        return {}
    names = (
        list(cast("Mapping[object, object]", arguments)) if isinstance(arguments, Mapping) else [0]
    )
    if not all(isinstance(name, str) for name in names):
        raise ConfigError(f"arguments go by name: {{'name': value}}, not {arguments!r}")
    return cast("Mapping[str, object]", arguments)
