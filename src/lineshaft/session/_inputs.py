"""Inputs of a caller beside a script, and for a single call."""

import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.scripts import program_names
from lineshaft.tools import SCOPE, NotPlain, plain
from lineshaft.values import ToolSpec

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


def checked_inputs(
    inputs: Mapping[str, object] | None, specs: Sequence[ToolSpec]
) -> dict[str, object]:
    """Return the inputs as plain JSON-like values.

    Args:
        inputs: What was given.
        specs: The tools of the script; best the same tuple each time.

    Raises:
        ConfigError: A name is not an identifier or stands for something else in scripts, or a
            value is not JSON.
    """
    given = cast("object", {} if inputs is None else inputs)
    if not isinstance(given, Mapping):
        raise ConfigError(f"inputs go by name: {{'name': value}}, not {given!r:.100}")
    made: dict[str, object] = {}
    for name, value in cast("Mapping[object, object]", given).items():
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ConfigError(f"input {name!r} is not a name that a script can use")
        if name != "args" and (whose := _whose(name, specs)):
            raise ConfigError(
                f"input {name!r} would hide {whose}", hint="give the input another name"
            )
        try:
            made[name] = plain(value)
        except NotPlain as error:
            inside = "".join(f"[{key!r}]" for key in error.path)
            where = f"{name!r} at {inside}" if inside else repr(name)
            raise ConfigError(f"input {where} is {error.what}", hint=error.hint) from error
    return made


def _whose(name: str, specs: Sequence[ToolSpec]) -> str:
    """Return what has a name in scripts before any input; nothing where it is free."""
    if name.startswith("__"):
        return "a name of Python's own"
    if name in SCOPE:
        return "what every script has by this name"
    flat, namespaces = program_names(specs)
    if name in flat:
        return "the tool of this name"
    return "the tools of this namespace" if name in namespaces else ""


def checked_arguments(tool: object, arguments: object) -> Mapping[str, object]:
    """Return the arguments of a single call, plain where they can be: the gate says where not.

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
    given = cast("Mapping[str, object]", arguments)
    try:
        return cast("Mapping[str, object]", plain(given))  # a run that waits keeps them
    except NotPlain:
        return given
