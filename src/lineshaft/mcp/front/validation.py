"""Validation of clients' messages against a schema."""

from collections.abc import Mapping
from typing import Any, cast

from lineshaft.errors import ToolError
from lineshaft.values import beginning

_LONGEST = 500


def fault_in(value: object, schema: Mapping[str, Any]) -> str:
    """Return the first thing in a value that its schema does not allow; empty where it fits."""
    import jsonschema  # noqa: PLC0415  only where something is called

    validator = cast("Any", jsonschema).Draft202012Validator(dict(schema))
    for error in validator.iter_errors(value):
        where = ".".join(str(part) for part in error.absolute_path)
        text = beginning(str(error.message), _LONGEST)
        return f"{where}: {text}" if where else text
    return ""


def checked(name: str, schema: Mapping[str, Any], arguments: object) -> dict[str, Any]:
    """Return the arguments of one of a front's own tools.

    Raises:
        ToolError: `E_INVALID_ARGS`; it names the parameters.
    """
    given = cast("dict[str, Any]", {} if arguments is None else arguments)
    if fault := fault_in(given, schema):
        needed = schema.get("required", ())
        parameters = (each if each in needed else f"{each}?" for each in schema["properties"])
        text = f"{fault}; {name} takes: {', '.join(parameters)}"
        raise ToolError("E_INVALID_ARGS", text, tool=name)
    return given
