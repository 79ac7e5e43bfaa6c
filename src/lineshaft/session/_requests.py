"""Requests of a model, parsed and checked."""

import json
from collections.abc import Mapping
from typing import cast

from lineshaft.errors import ToolError
from lineshaft.values import Struct


class ScriptRequest(Struct, frozen=True, kw_only=True):
    """A model's call of `run_script`."""

    code: str | None
    file: str | None
    args: list[str]
    seconds: float | None


def arguments_of(given: object) -> dict[str, object]:
    """Return a model's arguments, which may have come as JSON text; nothing and null are none.

    Raises:
        ToolError: `E_INVALID_ARGS`.
    """
    if isinstance(given, str | bytes):
        try:
            given = json.loads(given) if given.strip() else None
        except (ValueError, RecursionError) as error:
            raise ToolError("E_INVALID_ARGS", f"the arguments are not JSON: {error}") from error
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise ToolError("E_INVALID_ARGS", f"the arguments must be an object, not {kind}")
    members = cast("Mapping[object, object]", given)
    return {str(name): value for name, value in members.items()}


def script_request(arguments: Mapping[str, object], *, most_seconds: float) -> ScriptRequest:
    """Return what a call of `run_script` asks for.

    Raises:
        ToolError: `E_INVALID_ARGS`, with the name of the argument that is wrong.
    """
    unknown = sorted(set(arguments) - {"code", "file", "args", "timeout_seconds"})
    if unknown:
        text = f"run_script has no argument {unknown[0]!r}: code or file, args, timeout_seconds"
        raise ToolError("E_INVALID_ARGS", text)
    given = {name: value for name, value in arguments.items() if value is not None}
    sources = [name for name in ("code", "file") if name in given]
    if len(sources) != 1:
        given_were = "both were" if sources else "neither was"
        raise ToolError("E_INVALID_ARGS", f"give either code or file; {given_were} given")
    source = given[sources[0]]
    if not isinstance(source, str) or not source.strip():
        kind = "empty" if isinstance(source, str) else type(source).__name__
        raise ToolError("E_INVALID_ARGS", f"{sources[0]} must be text, and it is {kind}")
    return ScriptRequest(
        code=source if sources == ["code"] else None,
        file=source if sources == ["file"] else None,
        args=_texts(given.get("args", [])),
        seconds=_seconds(given.get("timeout_seconds"), most_seconds),
    )


def _texts(value: object) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise ToolError("E_INVALID_ARGS", "args must be a list of texts")
    return cast("list[str]", items)


def _seconds(value: object, most: float) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < cast("float", value) <= most:
        text = f"timeout_seconds must be a number above 0 and up to {most:g}, not {value!r}"
        raise ToolError("E_INVALID_ARGS", text)
    return float(cast("float", value))
