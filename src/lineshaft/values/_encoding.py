"""Values as JSON: for their size, for keys of calls, and to see whether they are JSON."""

import msgspec


def encoded(value: object) -> bytes:
    """Return a value as JSON without spaces.

    Values that `msgspec` refuses, such as integers of many thousand digits, are written by
    pydantic's encoder. Its import would be a twentieth of a short run.

    Raises:
        ValueError: The value is not JSON.
    """
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError):
        from pydantic_core import to_json  # noqa: PLC0415  see above

        return to_json(value, inf_nan_mode="constants")
