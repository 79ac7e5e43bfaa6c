"""Values that a script is given as globals."""

import keyword
from collections.abc import Mapping

import pydantic_core

from lineshaft.errors import ConfigError


def checked_inputs(inputs: Mapping[str, object] | None) -> dict[str, object]:
    """Return the inputs as plain JSON-like values.

    Raises:
        ConfigError: A name is not an identifier, or a value is not JSON.
    """
    plain: dict[str, object] = {}
    for name, value in (inputs or {}).items():
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ConfigError(f"input {name!r} is not a name that a script can use")
        try:
            text = pydantic_core.to_json(value, inf_nan_mode="constants")
        except (pydantic_core.PydanticSerializationError, ValueError) as error:
            kind = type(value).__name__
            raise ConfigError(f"input {name!r} is not JSON: {kind} ({error})") from error
        plain[name] = pydantic_core.from_json(text)
    return plain
