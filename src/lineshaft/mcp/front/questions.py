"""Questions of a tool to a person through a client: a flat form, made anew of known keywords.

The schema may be that of a foreign server. Of it nothing is taken but what a form of MCP can say;
references are never followed and patterns never tried.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from lineshaft.errors import Declined, ToolError
from lineshaft.mcp._text import clean
from lineshaft.mcp.front.client import FilledForm, Form
from lineshaft.mcp.front.validation import fault_in

_LONGEST = 8_000
_TEXT = 1_000
_NAME = 100
_MEMBERS = 50
_OPTIONS = 200
_FORMATS = frozenset({"email", "uri", "date", "date-time"})

Table = Mapping[str, object]


def question_form(message: str, schema: Mapping[str, object]) -> tuple[Form, bool]:
    """Return the form for what a tool asks, and whether the value is wrapped into it.

    Raises:
        ToolError: `E_DENIED`: no client could show it.
    """
    wrapped = schema.get("type") != "object"
    members = {"value": schema} if wrapped else _table(schema.get("properties"))
    if len(members) > _MEMBERS:
        raise ToolError("E_DENIED", f"no person can be asked: {_MEMBERS} values fit a form")
    flat: dict[str, object] = {}
    for name, member in members.items():
        known = _flat(_table(member))
        if known is None or clean(name, _NAME) != name:
            text = f"{clean(name, _NAME)!r} is neither text, number, yes or no, nor a choice"
            raise ToolError("E_DENIED", f"no person can be asked: {text}")
        flat[name] = known
    needed = ["value"] if wrapped else _needed(schema, flat)
    made: dict[str, object] = {"type": "object", "properties": flat}
    return Form(clean(message, _LONGEST), made | ({"required": needed} if needed else {})), wrapped


def value_of(form: Form, filled: FilledForm, *, wrapped: bool) -> object:
    """Return what a person said to a tool's question; None where they cancelled.

    Args:
        form: As `question_form` made it: what is said is held against that.
        filled: What they said.
        wrapped: As told with the form.

    Raises:
        Declined: They would not say.
        ToolError: `E_DENIED`: what they said does not fit.
    """
    if filled.action == "decline":
        raise Declined
    if filled.action == "cancel":
        if wrapped:
            raise ToolError("E_DENIED", "the person gave no answer")
        return None
    asked = _table(form.schema["properties"])
    content = {name: value for name, value in filled.content.items() if name in asked}
    if fault := fault_in(content, form.schema):
        raise ToolError("E_DENIED", f"the person's answer does not fit: {fault}")
    return content["value"] if wrapped else content


def _flat(member: Table) -> Table | None:
    """Return a member in the words that forms have; None: it does not fit one."""
    said = _words(member, title=_NAME, description=_TEXT)
    member = _without_null(member)
    made = _listed(member) if member.get("type") == "array" else _single(member)
    return {**made, **said} if made is not None else None


def _without_null(member: Table) -> Table:
    """Return what a member is where it is given: servers write `X | None` for what may be left out.

    So do models of pydantic, and the SDK sends them as they are.
    """
    each = member.get("anyOf")
    listed = [_table(one) for one in cast("list[object]", each)] if isinstance(each, list) else []
    given = [one for one in listed if one.get("type") != "null"]
    return given[0] if len(given) == 1 and len(listed) == len(given) + 1 else member


def _listed(member: Table) -> Table | None:
    items = _choice(_table(member.get("items")), among="anyOf")
    if items is None:
        return None
    numbers = _whole(member, "minItems", "maxItems")
    return {"type": "array", "items": items, **numbers, **_default(member, list)}


def _single(member: Table) -> Table | None:
    if (choice := _choice(member, among="oneOf")) is not None:
        return {**choice, **_default(member, str)}
    kind = member.get("type")
    match kind:
        case "string":
            how = member.get("format")
            known = {"format": how} if isinstance(how, str) and how in _FORMATS else {}
            lengths = _whole(member, "minLength", "maxLength")
            return {"type": kind, **known, **lengths, **_default(member, str)}
        case "number" | "integer":
            bounds = {k: member[k] for k in ("minimum", "maximum") if _is_number(member.get(k))}
            return {"type": kind, **bounds, **_default(member, int, float)}
        case "boolean":
            return {"type": kind, **_default(member, bool)}
        case _:
            return None


def _choice(member: Table, *, among: str) -> dict[str, object] | None:
    """Return a choice of texts; None where it is none, or of something else."""
    listed = member.get("enum")
    if isinstance(listed, list):
        options = _texts(cast("list[object]", listed))
        if options is None:
            return None
        names = member.get("enumNames")
        words = _texts(cast("list[object]", names)) if isinstance(names, list) else None
        made: dict[str, object] = {"type": "string", "enum": options}
        if words and len(words) == len(options):
            made["enumNames"] = [clean(each, _NAME) for each in words]
        return made
    titled = list(_titled(member))
    return {"type": "string", among: titled} if titled and len(titled) <= _OPTIONS else None


def _titled(member: Table) -> Iterator[dict[str, str]]:
    for key in ("oneOf", "anyOf"):
        each = member.get(key)
        for option in map(_table, cast("list[object]", each) if isinstance(each, list) else []):
            value = option.get("const")
            if isinstance(value, str):
                yield {"const": value, "title": clean(str(option.get("title") or value), _NAME)}


def _texts(values: list[object]) -> list[str] | None:
    fit = 0 < len(values) <= _OPTIONS and all(isinstance(each, str) for each in values)
    return cast("list[str]", values) if fit else None


def _words(member: Table, **most: int) -> dict[str, object]:
    given = {name: member.get(name) for name in most}
    return {name: clean(text, most[name]) for name, text in given.items() if isinstance(text, str)}


def _whole(member: Table, *names: str) -> dict[str, object]:
    return {
        name: value
        for name in names
        if isinstance(value := member.get(name), int) and not isinstance(value, bool) and value >= 0
    }


def _default(member: Table, *kinds: type) -> dict[str, object]:
    value = member.get("default")
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, list):
        fits = fits and _texts(cast("list[object]", value)) is not None
    return {"default": value} if fits else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _needed(schema: Table, members: Table) -> list[str]:
    given = schema.get("required")
    listed = cast("list[object]", given) if isinstance(given, list) else []
    return [name for name in members if name in listed]


def _table(value: object) -> Table:
    return cast("Table", value) if isinstance(value, Mapping) else {}
