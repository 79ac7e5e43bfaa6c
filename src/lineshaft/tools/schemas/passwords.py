"""Arguments that a schema calls passwords: records show no value of theirs."""

from lineshaft.tools.schemas.pointers import Schema, as_list, as_schema, resolve, subschemas


def password_names(schema: Schema) -> tuple[str, ...]:
    """Return the names of arguments, and of fields in them, that hold passwords.

    A value is a password where its schema says `format: password` or `writeOnly`. A list or dict of
    passwords counts as one.

    Args:
        schema: JSON Schema of the arguments.
    """
    parts = list(subschemas(schema))
    if not any(map(_is_password, parts)):
        return ()
    fields = (item for part in parts for item in as_schema(part.get("properties")).items())
    return tuple(sorted({name for name, field in fields if _holds_password(field, schema)}))


def _is_password(schema: Schema) -> bool:
    return schema.get("format") == "password" or schema.get("writeOnly") is True


def _holds_password(field: object, root: Schema) -> bool:
    """Return whether a field is a password in some form, by itself and not by fields of its own."""
    waiting: list[object] = [field]
    seen: set[int] = set()
    while waiting:
        form = as_schema(waiting.pop())
        if id(form) in seen:
            continue
        seen.add(id(form))
        if _is_password(form):
            return True
        waiting.append(resolve(form.get("$ref"), root))
        waiting += (form.get(key) for key in ("items", "additionalProperties"))
        for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            waiting += as_list(form.get(key))
    return False
