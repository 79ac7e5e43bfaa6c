"""Schemas that clients and model APIs take: every published one, held against the written rules."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from lineshaft import Session, Tool, kit, tool
from lineshaft.errors import ToolError
from lineshaft.mcp.front import Front
from lineshaft.tools import own_names, published
from lineshaft.values import ToolSpec

_ROOT = {"anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"}
_TAKEN = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_POINTS = {"$ref", "definitions", "$dynamicRef", "$recursiveRef", "$id"}


def parts(schema: object) -> Iterator[dict[str, Any]]:
    """Yield every schema in a schema."""
    if isinstance(schema, dict):
        known = cast("dict[str, Any]", schema)
        yield known
        for key, value in known.items():
            if key in ("properties", "patternProperties"):
                for each in value.values():
                    yield from parts(each)
            elif key not in ("enum", "const", "default", "examples"):
                yield from parts(value)
    elif isinstance(schema, list):
        for each in cast("list[object]", schema):
            yield from parts(each)


def problems(schema: Mapping[str, Any]) -> list[str]:
    """Return which of the rules a published schema breaks."""
    found: list[str] = []
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        found.append("the root is no object with properties")
    found += [f"{key} at the root" for key in _ROOT & schema.keys()]
    found += [
        f"required {key!r}" for key in schema.get("required", []) if key not in schema["properties"]
    ]
    found += [f"the name {name!r}" for name in schema["properties"] if not _TAKEN.fullmatch(name)]
    for part in parts(schema):
        kinds = part.get("type")
        if "array" in (kinds if isinstance(kinds, list) else [kinds]) and "items" not in part:
            found.append(f"an array without items: {part}")
        if "items" in part and not isinstance(part["items"], dict):
            found.append(f"items that are no schema: {part}")
        found += [f"{key} points elsewhere" for key in _POINTS & part.keys()]
        if len(part.get("description", "")) > 1_024:
            found.append("a long description")
    for draft in (jsonschema.Draft7Validator, jsonschema.Draft202012Validator):
        checked = cast("Any", draft(draft.META_SCHEMA))
        found += [error.message for error in checked.iter_errors(dict(schema))]
    return found


class Leaf(BaseModel):
    """A leaf."""

    name: str
    children: list["Leaf"] = []


@tool(effect="read")
async def grow(
    leaf: Leaf,
    pair: tuple[int, str],
    kinds: list[Literal["a", "b"]],
    more: dict[str, Any] | None = None,
) -> list[Leaf]:
    """Grow."""
    del pair, kinds, more
    return [leaf]


AWKWARD: list[dict[str, Any]] = [
    {},
    {"type": "object"},
    {"properties": {"a": True}, "required": ["a", "b"]},
    {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"required": ["b"]}]},
    {
        "allOf": [{"$ref": "#/$defs/x"}],
        "$defs": {"x": {"properties": {"a": {}}, "required": ["a"]}},
    },
    {"type": "object", "properties": {"a": {"type": ["array", "null"]}}},
    {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
    {"type": "object", "properties": {"a": {"type": "array", "items": True}}},
    {"type": "object", "properties": {"a": {"prefixItems": [{"type": "string"}], "items": False}}},
    {
        "type": "object",
        "properties": {"a b": {}, "a_b": {}, "é" * 70: {}, "": {}},
        "required": ["a b"],
    },
    {"type": "object", "properties": {"a": {"$ref": "#"}}},
    {
        "type": "object",
        "properties": {"a": {"$ref": "#/nowhere"}, "b": {"$ref": "https://x.example/y"}},
    },
    {
        "type": "object",
        "properties": {"a": {"exclusiveMinimum": True, "minimum": 3, "type": "integer"}},
    },
    {"type": "object", "properties": {"a": {"type": "string", "required": True}}},
    {"type": "object", "properties": {"a": {"type": "any", "description": "x" * 5_000}}},
    {"type": "object", "enum": [1], "const": 2, "not": {}, "if": {}, "then": {}, "else": {}},
    {
        "type": "object",
        "properties": {"a": {"items": {"type": "array"}}},
        "$schema": "x",
        "$id": "y",
    },
]


def spec_of(schema: Mapping[str, Any], description: str = "") -> ToolSpec:
    return ToolSpec(name="t", effect="read", input_schema=schema, description=description)


@pytest.mark.parametrize("schema", AWKWARD, ids=str)
def test_an_awkward_schema_is_published_so_that_all_take_it(schema: dict[str, Any]) -> None:
    told = published(spec_of(schema))
    assert problems(told.schema) == []
    assert told.description


_NAMES = st.sampled_from(["a", "b c", "items", "$ref", "properties", "é"])
_SCHEMAS = st.recursive(
    st.one_of(
        st.booleans(),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["array", "string", "object", "null", "x"])}
        ),
        st.just({"$ref": "#/$defs/a"}),
        st.just({"$ref": "#"}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"properties": st.dictionaries(_NAMES, inner), "required": st.lists(_NAMES)}
        ),
        st.fixed_dictionaries({"type": st.just(["array", "null"]), "items": inner}),
        st.fixed_dictionaries({"items": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries(
            {key: st.lists(inner, min_size=1, max_size=2) for key in ("anyOf", "allOf")}
        ),
        st.fixed_dictionaries(
            {"$defs": st.fixed_dictionaries({"a": inner}), "additionalProperties": inner}
        ),
    ),
    max_leaves=12,
)


@given(_SCHEMAS)
@settings(deadline=None)
def test_no_schema_is_published_that_some_client_refuses(schema: object) -> None:
    told = published(spec_of(cast("dict[str, Any]", schema if isinstance(schema, dict) else {})))
    assert problems(told.schema) == []
    assert json.dumps(told.schema)


def test_a_vast_schema_is_published_in_bounds() -> None:
    wide = {f"p{i}": {"$ref": "#/$defs/x"} for i in range(100)}
    schema = {
        "type": "object",
        "properties": wide,
        "$defs": {"x": {"type": "object", "properties": wide}},
    }
    told = published(spec_of(schema))
    assert problems(told.schema) == []
    assert len(json.dumps(told.schema)) < 300_000


def test_what_the_schema_cannot_say_is_in_the_description() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    told = published(spec_of(schema, "Either."))
    assert told.description == (
        'Either.\nConstraint: {"oneOf":[{"required":["a"]},{"required":["b"]}]}'
    )


async def test_all_that_a_front_and_a_model_api_are_told_keeps_the_rules() -> None:
    async def odd(**given: object) -> dict[str, object]:
        return given

    odd_tool = Tool.from_schema(
        name="odd",
        description="",
        input_schema={
            "type": "object",
            "properties": {"a b": {"type": "array"}},
            "required": ["a b"],
        },
        function=odd,
        effect="read",
    )
    async with Session([*kit.tools().values(), grow, odd_tool]) as session:
        told = Front(session, direct=["*"]).definitions()
        openai = session.definitions("openai", direct=["grow", "odd", "write_file"])
        answer = await session.handle("odd", {"a_b": [1]})
    for each in told:
        assert problems(each["inputSchema"]) == [], each["name"]
        assert each["description"], each["name"]
        assert len(each["name"]) <= 48
    for each in openai:
        assert problems(each["function"]["parameters"]) == []
    own = [each["inputSchema"] for each in told[:5]]
    for part in (part for schema in own for part in parts(schema)):
        assert not {"additionalProperties", "const", "exclusiveMinimum"} & part.keys()
        assert not isinstance(part.get("type"), list)
    assert json.loads(answer.text) == {"a b": [1]}


def test_published_names_come_back_as_the_tools_own() -> None:
    spec = spec_of({"type": "object", "properties": {"a b": {}, "a_b": {}, "c": {}}})
    told = published(spec)
    assert list(told.schema["properties"]) == ["a_b_2", "a_b", "c"]
    assert own_names(spec, {"a_b_2": 1, "a_b": 2, "c": 3}) == {"a b": 1, "a_b": 2, "c": 3}


def test_names_that_come_to_one_are_numbered_without_end() -> None:
    spec = spec_of({"type": "object", "properties": {f"{'a' * 60} {i}": {} for i in range(1_500)}})
    told = published(spec)
    assert problems(told.schema) == []
    assert len(told.schema["properties"]) == 1_500


def test_names_behind_a_reference_come_back_and_none_is_given_twice() -> None:
    inner: dict[str, Any] = {"type": "object", "properties": {"user name": {}}}
    spec = spec_of({"type": "object", "$ref": "#/$defs/A", "$defs": {"A": inner}})
    assert own_names(spec, {"user_name": "bob"}) == {"user name": "bob"}
    with pytest.raises(ToolError, match="are one argument"):
        own_names(spec, {"user_name": 1, "user name": 2})


def test_what_contains_itself_is_told_once() -> None:
    leaf = published(grow.spec).schema["properties"]["leaf"]
    inner = leaf["properties"]["children"]["items"]
    assert (inner["type"], "properties" in inner) == ("object", False)
