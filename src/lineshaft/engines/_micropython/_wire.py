"""JSON-like values as text that an interpreter without ordered dicts and exact floats reads.

A dict is `{"d": [key, value, ...]}`, a float that is not short `{"f": its eight bytes}`, a long
text on its way in `{"s": [part, ...]}`: to read it whole would take an interpreter time that grows
with the square of its length.
"""

import json
import math
import struct
from typing import cast

from lineshaft.engines._plain import scrubbed

_SHORT = 15
_PART = 2_000
_FLOAT_BYTES = 8


def encode(value: object) -> str:
    """Return a JSON-like value as text."""
    return json.dumps(_marked(value), ensure_ascii=False, separators=(",", ":"))


def encode_text(value: object) -> bytes:
    """Return a JSON-like value as UTF-8; half characters become question marks."""
    try:
        return encode(value).encode()
    except UnicodeEncodeError:
        return encode(scrubbed(value)).encode()


def decode(text: bytes) -> object:
    """Return what the interpreter wrote.

    Raises:
        ValueError: It is not what `_dumps` of the interpreter writes.
    """
    return _unmarked(json.loads(readable(text), parse_constant=_refused))


def readable(text: bytes) -> str:
    """Return text of the interpreter; half characters become question marks."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        halves = text.decode("utf-8", "surrogatepass") if _has_halves(text) else None
        if halves is None:
            return text.decode("utf-8", "replace")
        whole = halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\ufffd", "?")


def _refused(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _has_halves(text: bytes) -> bool:
    try:
        text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _marked(value: object) -> object:
    if isinstance(value, str) and len(value) > _PART:
        return {"s": [value[at : at + _PART] for at in range(0, len(value), _PART)]}
    if isinstance(value, float):
        if len(repr(value)) <= _SHORT:
            return value
        return {"f": struct.pack("<d", value).hex()}
    if isinstance(value, dict):
        pairs: list[object] = []
        for key, item in cast("dict[str, object]", value).items():
            pairs += (str(key), _marked(item))
        return {"d": pairs}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in cast("list[object]", value)]
    return value


def _unmarked(value: object) -> object:
    if isinstance(value, list):
        return [_unmarked(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        marked = cast("dict[str, object]", value)
        return _float(marked["f"]) if "f" in marked else _dict(marked.get("d"))
    return value


def _float(text: object) -> float:
    packed = bytes.fromhex(str(text))
    (number,) = struct.unpack("<d", packed) if len(packed) == _FLOAT_BYTES else (math.nan,)
    if not math.isfinite(number):
        raise ValueError("not a number of JSON")
    return number


def _dict(pairs: object) -> dict[str, object]:
    if not isinstance(pairs, list):
        raise ValueError("not a dict")  # noqa: TRY004  all that is wrong here is a ValueError
    items = iter(cast("list[object]", pairs))
    return {_key(key): _unmarked(item) for key, item in zip(items, items, strict=True)}


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError("not a key")  # noqa: TRY004  all that is wrong here is a ValueError
    return key
