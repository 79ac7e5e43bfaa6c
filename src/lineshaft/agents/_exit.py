"""The two tools that end a microagent: `Exit` with a result of its type, and `GiveUp`."""

import json
from collections.abc import Mapping
from typing import Any, cast

from lineshaft.errors import ConfigError, ToolError
from lineshaft.models import OfferedTool
from lineshaft.tools import Mismatch, Tool, published

_DEFINITIONS = ("$defs", "definitions")

MOST_RESULT = 16_000_000
"""Characters of the arguments of `Exit`: as JSON they are what one message to a script may hold."""

EXIT = "Exit"
GIVE_UP = "GiveUp"

_EXIT = (
    "Call this when you are finished. `result` is the result itself, as asked for: no padding, no "
    "explanation, no code fences. Call it alone, with no other tool beside it."
)
_GIVE_UP = "Call this when you cannot finish, however you go on. `reason` says why, for a person."

GIVING_UP = OfferedTool(
    name=GIVE_UP,
    description=_GIVE_UP,
    input_schema={
        "type": "object",
        "properties": {"reason": {"type": "string"}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)


class ExitTool:
    """Takes a model's result: reads it, and checks it against its type.

    Args:
        result: The result's type, or the JSON Schema of it.

    Raises:
        ConfigError: The type has no JSON Schema.
    """

    def __init__(self, result: object) -> None:
        if isinstance(result, Mapping):
            schema = _wrapped(cast("Mapping[str, object]", result))
            self._tool: Tool[..., Any] = Tool.from_schema(
                name=EXIT, description=_EXIT, input_schema=schema, function=_given, effect="read"
            )
        else:
            self._tool = Tool.from_function(
                _taking(result), name=EXIT, description=_EXIT, effect="read"
            )
        takes = published(self._tool.spec)
        self.offered = OfferedTool(
            name=EXIT, description=takes.description, input_schema=takes.schema
        )

    @property
    def schema(self) -> Mapping[str, object]:
        """The JSON Schema of the result."""
        given = self._tool.spec.input_schema
        inner = cast("Mapping[str, Mapping[str, object]]", given["properties"])["result"]
        return {**inner, **{key: given[key] for key in _DEFINITIONS if key in given}}

    def read(self, arguments: str) -> object:
        """Return the result in a model's arguments.

        Raises:
            ToolError: `E_INVALID_ARGS`: it is malformed, too large, or not of the type; it says
                where.
        """
        if len(arguments) > MOST_RESULT:
            text = f"the result has more than {MOST_RESULT:,} characters of JSON"
            raise ToolError("E_INVALID_ARGS", text)
        return self._accepted(object_in(arguments))

    def typed(self, value: object) -> object:
        """Return a result of its JSON form; it raises as `read`."""
        return self._accepted({"result": value})

    def _accepted(self, arguments: Mapping[str, object]) -> object:
        try:
            return self._tool.contract.accept({**arguments})["result"]
        except Mismatch as error:
            raise ToolError("E_INVALID_ARGS", str(error)) from None


def object_in(arguments: str) -> Mapping[str, object]:
    """Return the arguments that a model wrote.

    Raises:
        ToolError: `E_INVALID_ARGS`: they are no JSON, or no object.
    """
    try:
        given: object = json.loads(arguments) if arguments.strip() else {}
    except ValueError as error:
        raise ToolError("E_INVALID_ARGS", f"the arguments are no JSON: {error}") from None
    except RecursionError:
        raise ToolError("E_INVALID_ARGS", "the arguments are nested too deeply") from None
    if not isinstance(given, dict):
        raise ToolError("E_INVALID_ARGS", "the arguments are no JSON object")
    return cast("Mapping[str, object]", given)


def _wrapped(schema: Mapping[str, object]) -> Mapping[str, object]:
    inner = dict(schema)
    definitions = {key: inner.pop(key) for key in _DEFINITIONS if key in inner}
    return {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        "additionalProperties": False,
        **definitions,
    }


def _given(**arguments: object) -> object:
    return arguments["result"]


def _taking(result: object) -> Any:  # noqa: ANN401  a function of that type
    if result is None:
        raise ConfigError("a microagent needs the type of its result: Microagent[Type](...)")

    def exit_with(result: object) -> object:
        return result

    exit_with.__annotations__ = {"result": result, "return": object}
    return exit_with
