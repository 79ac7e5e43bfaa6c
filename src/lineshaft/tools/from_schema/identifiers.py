"""References by identifier: those to a part's `$id` become pointers, which all readers follow.

See JSON Schema 2020-12, core, 8.2.1: an `$id` is resolved against the one around it, and is the
base of the references below it.
"""

from collections.abc import Iterator
from typing import cast
from urllib.parse import quote, urldefrag, urljoin

from lineshaft.tools.schemas import DATA, KEYED, Schema, subschemas

_PLAIN = "!$&'()*+,;=:@~"
_LONGEST = 2_000


def name_parts_by_pointer(schema: Schema) -> None:
    """Rewrite references to identifiers of a schema's own parts, and take out these identifiers.

    References that lead elsewhere stay as they are.

    Args:
        schema: Made of dicts and lists of its own; changed in place.

    Raises:
        ValueError: An identifier or a reference is no address, or a part's address or place has
            more than 2,000 characters.
    """
    if not any(isinstance(part.get("$id"), str) for part in subschemas(schema)):
        return
    parts = list(_parts(schema))
    pointers: dict[str, str] = {}
    for base, pointer, part in parts:
        if pointer == "#" or isinstance(part.get("$id"), str):
            pointers.setdefault(base, pointer)
    for base, pointer, part in parts:
        ref = part.get("$ref")
        if isinstance(ref, str):
            whole, fragment = urldefrag(base + ref if ref.startswith("#") else urljoin(base, ref))
            target = pointers.get(whole)
            if target is not None and fragment[:1] in ("", "/"):
                part["$ref"] = target + fragment
        if pointer != "#" and isinstance(part.get("$id"), str):
            del part["$id"]


def _parts(root: Schema) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield each schema of a schema with its base and its pointer, those around it first."""
    waiting: list[tuple[object, str, str, bool]] = [(root, "", "#", True)]
    while waiting:
        value, base, pointer, is_schema = waiting.pop()
        if max(len(base), len(pointer)) > _LONGEST:
            raise ValueError(f"a part is at {pointer:.40}..., by {base:.40}...: too long")
        if isinstance(value, list):
            items = enumerate(cast("list[object]", value))
            waiting.extend((item, base, f"{pointer}/{place}", True) for place, item in items)
        elif isinstance(value, dict):
            found = cast("dict[str, object]", value)
            if is_schema:
                if isinstance(own := found.get("$id"), str):
                    base = urldefrag(urljoin(base, own[: _LONGEST + 1])).url
                yield base, pointer, found
            for key, part in found.items():
                if not is_schema or key not in DATA:
                    step = quote(key.replace("~", "~0").replace("/", "~1"), safe=_PLAIN)
                    below = (part, base, f"{pointer}/{step}", not is_schema or key not in KEYED)
                    waiting.append(below)
