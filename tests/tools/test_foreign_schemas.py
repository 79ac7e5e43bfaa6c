"""Tools whose schemas come from elsewhere: checked, never fetched, and never for ever."""

import sys
import time
from collections.abc import Mapping

import pytest

from lineshaft.errors import ConfigError, ToolError
from lineshaft.gate._invoke import bind, invoke
from lineshaft.tools import Tool
from lineshaft.values import Context


async def call(**arguments: object) -> object:
    return arguments


def made(schema: Mapping[str, object], output_schema: Mapping[str, object] | None = None) -> Tool:
    return Tool.from_schema(
        name="web.fetch",
        description="Fetch.",
        input_schema=schema,
        output_schema=output_schema,
        function=call,
    )


def taking(part: object, **more: object) -> Tool:
    return made({"type": "object", "properties": {"a": part}, **more})


def refusal(tool: Tool, **arguments: object) -> str:
    with pytest.raises(ToolError) as caught:
        bind(tool, arguments, ())
    assert caught.value.code == "E_INVALID_ARGS"
    return caught.value.message.removeprefix("web.fetch(): ")


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ({"type": "string"}, 1, "`a` must be a string, not 1"),
        ({"type": ["integer", "null"]}, "x", "`a` must be an integer or None, not 'x'"),
        ({"enum": ["x", 2, None]}, "y", "`a` must be one of 'x', 2, None, not 'y'"),
        ({"enum": list(range(30))}, "y", "17, 18, 19, ..., not 'y'"),
        ({"const": "x"}, "y", "`a` must be 'x', not 'y'"),
        ({"minimum": 1}, 0, "`a` must be 1 or more, not 0"),
        ({"exclusiveMaximum": 1}, 1, "`a` must be less than 1, not 1"),
        ({"multipleOf": 5}, 7, "`a` must be a multiple of 5, not 7"),
        ({"minLength": 2}, "x", "`a` must be at least 2 characters long, not 'x'"),
        ({"maxItems": 1}, [1, 2], "`a` must be at most 1 items long, not a list of 2"),
        ({"pattern": "^a+$"}, "b", "`a` must be text that matches '^a+$', not 'b'"),
        ({"uniqueItems": True}, [{"k": 1}, {"k": 1}], "`a` has an item twice"),
        ({"not": {"type": "string"}}, "x", "`a` is not allowed"),
        ({"contains": {"const": 1}}, [2], "`a` lacks an item that must be there"),
        (False, 1, "the call holds what is not allowed"),
        ({"minProperties": 1}, {}, "`a` must be a dict of at least 1 keys, not an empty dict"),
        ({"items": {"type": "string"}}, ["x", 2], "`a[1]` must be a string, not 2"),
        ({"required": ["k"]}, {}, "`a.k` is missing"),
        ({"properties": {}, "additionalProperties": False}, {"k": 1}, "`a.k` is unknown"),
        ({"additionalProperties": {"type": "string"}}, {"k": 1}, "`a.k` must be a string, not 1"),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"xy": 1}, "`a.xy` must be a string"),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": False},
            {"xy": 1, "k": 2},
            "`a.k` is unknown",
        ),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, [], "a string or an integer, not"),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"k": {"type": "string"}}}]},
            {"k": 1},
            "`a.k` must be a string, not 1",
        ),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "`a` must be of one of the allowed"),
        ({"propertyNames": {"pattern": "^x"}}, {"y": 1}, "must be text that matches '^x', not 'y'"),
        ({"dependentRequired": {"k": ["l"]}}, {"k": 1}, "`a` lacks what belongs to it: 'l'"),
        ({"$ref": "#/$defs/n"}, {"next": {"next": 1}}, "`a.next.next` must be a dict, not 1"),
    ],
)
def test_what_does_not_fit_is_told_in_the_same_words(
    part: object, value: object, message: str
) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}
    tool = taking(part, **{"$defs": {"n": node}})
    assert message in refusal(tool, a=value)


HERE = "https://schemas.test/tool.json"
BY_IDENTIFIER: dict[str, Mapping[str, object]] = {
    "of a part": {
        "properties": {"a": {"$ref": "https://schemas.test/day"}},
        "$defs": {"d": {"$id": "https://schemas.test/day", "type": "integer"}},
    },
    "relative to the whole": {
        "$id": HERE,
        "properties": {"a": {"$ref": "day"}},
        "$defs": {"d": {"$id": "day", "type": "integer"}},
    },
    "of the whole, with a pointer": {
        "$id": HERE,
        "properties": {"a": {"$ref": f"{HERE}#/$defs/d"}},
        "$defs": {"d": {"type": "integer"}},
    },
    "of a part, with a pointer": {
        "properties": {"a": {"$ref": "urn:days#/$defs/x~1y"}},
        "$defs": {"d": {"$id": "urn:days", "$defs": {"x/y": {"type": "integer"}}}},
    },
    "of the part itself": {
        "properties": {"a": {"$ref": "#/$defs/e f"}},
        "$defs": {
            "d": {"type": "string"},
            "e f": {"$id": "inner", "$ref": "#/$defs/d", "$defs": {"d": {"type": "integer"}}},
        },
    },
    "of a name that is no identifier": {
        "properties": {"a": {"$ref": "#/$defs/$id"}, "$id": {"type": "string"}},
        "$defs": {"$id": {"type": "integer"}},
    },
}


@pytest.mark.parametrize("schema", BY_IDENTIFIER.values(), ids=BY_IDENTIFIER)
def test_a_reference_leads_to_the_part_of_its_identifier(schema: Mapping[str, object]) -> None:
    tool = made({"type": "object", **schema})
    assert bind(tool, {"a": 1}, ()) == {"a": 1}
    assert refusal(tool, a="x") == "`a` must be an integer, not 'x'"


NO_ADDRESSES: list[tuple[object, str]] = [
    ({"$id": "http://[x#"}, "Invalid IPv6 URL"),
    ({"$id": "urn:a", "$ref": "http://[x"}, "Invalid IPv6 URL"),
    ({"$id": "urn:" + "a" * 3_000}, "too long"),
    ({"$id": "urn:a", "properties": {"b" * 3_000: {"anyOf": [{}] * 1_000}}}, "too long"),
]


@pytest.mark.parametrize(("part", "message"), NO_ADDRESSES)
def test_an_identifier_that_is_no_address_or_has_no_end_is_refused(
    part: object, message: str
) -> None:
    with pytest.raises(ConfigError, match=f"no valid JSON Schema: .*{message}"):
        taking(part)


def test_a_reference_to_an_identifier_leads_in_no_circle() -> None:
    with pytest.raises(ConfigError, match="refers to itself without end"):
        taking({"$ref": "urn:a"}, **{"$defs": {"d": {"$id": "urn:a", "anyOf": [{"$ref": "#"}]}}})
    with pytest.raises(ConfigError, match="refers to 'urn:b', which is not in it"):
        taking({"$ref": "urn:b"}, **{"$defs": {"d": {"$id": "urn:a"}}})


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"type": "integer"}, 5.0),
        ({"type": "number"}, 5),
        ({"format": "date"}, "not a date"),
        ({"pattern": "["}, "x"),
        ({"pattern": r"^\p{Lu}+$"}, "ÄÖ"),
        ({"uniqueItems": True}, [1, 2]),
        ({"unevaluatedItems": False, "unevaluatedProperties": False}, [1]),
        (True, 1),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"k": 1}),
    ],
)
def test_what_fits_is_taken(part: object, value: object) -> None:
    assert bind(taking(part), {"a": value}, ()) == {"a": value}


KNOWN: list[tuple[Mapping[str, object], list[str], bool]] = [
    ({"type": "object", "properties": {"a": {}}}, ["a"], False),
    ({"properties": {}}, [], False),
    ({"type": "object", "additionalProperties": False}, [], False),
    ({"type": "object"}, [], True),
    ({}, [], True),
    ({"properties": {"a": {}}, "additionalProperties": True}, ["a"], True),
    ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, ["a"], True),
    ({"properties": {"a": {}}, "patternProperties": {"^b": {}}}, ["a"], True),
    ({"properties": {"a": {}}, "unevaluatedProperties": False}, ["a"], False),
    ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ["a", "b"], False),
    ({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, ["a", "b"], False),
    ({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"a": {}}}}}, ["a"], False),
    (
        {"properties": {"a": {}}, "if": {"properties": {"b": {}}}, "then": {}},
        ["a", "b"],
        False,
    ),
    (
        {"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}},
        [],
        False,
    ),
]


@pytest.mark.parametrize(("schema", "known", "open_"), KNOWN)
def test_unknown_names_are_refused_where_names_are_known(
    schema: Mapping[str, object], known: list[str], open_: bool
) -> None:
    tool = made(schema)
    if "oneOf" not in schema:
        arguments = dict.fromkeys(known, "x")
        assert bind(tool, arguments, ()) == arguments
    if open_:
        assert bind(tool, {"other": "x"}, ()) == {"other": "x"}
    else:
        assert "`other` is unknown" in refusal(tool, other="x")


def test_an_unknown_name_that_is_nearly_right_is_told() -> None:
    tool = made({"properties": {"repository": {"type": "string"}}, "required": ["repository"]})
    message = refusal(tool, repositry="x")
    assert "`repositry` is unknown; did you mean `repository`?" in message
    assert "`repository` is missing" in message


def test_defaults_are_left_to_the_far_side() -> None:
    assert bind(taking({"type": "integer", "default": 5}), {}, ()) == {}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("text", "the input schema of 'web.fetch' is no object"),
        ({"type": "string"}, "is of type 'string', not 'object'"),
        ({"properties": {"a": {"type": "int"}}}, "is no valid JSON Schema: 'int' is not valid"),
        ({"properties": []}, "is no valid JSON Schema"),
        ({"required": "a"}, "is no valid JSON Schema"),
        ({"properties": {"a": {1, 2}}}, "holds a set"),
        ({"properties": {"a": {"$ref": "#/$defs/x"}}}, "refers to '#/$defs/x', which is not in"),
        ({"properties": {"a": {"$ref": "https://example.org/x"}}}, "refers to 'https://example"),
        ({"properties": {"a": {"$ref": "other.json"}}}, "refers to 'other.json'"),
        ({"$ref": "#"}, "refers to itself without end"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "refers to itself without end"),
        (
            {"$defs": {"x": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]}}},
            "refers to itself without end",
        ),
        (
            {"$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(80)} | {"d80": {}}},
            "through too many steps",
        ),
    ],
)
def test_a_bad_schema_is_refused_when_the_tool_is_made(schema: object, message: str) -> None:
    with pytest.raises(ConfigError, match=r"web\.fetch") as caught:
        made(schema)  # pyright: ignore[reportArgumentType]  wrong on purpose
    assert message in str(caught.value)


def test_a_bad_output_schema_is_refused_too() -> None:
    with pytest.raises(ConfigError, match=r"the output schema of 'web\.fetch' is no valid"):
        made({}, {"type": 5})


def test_a_schema_without_a_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="a tool's name must be text, not None"):
        Tool.from_schema(input_schema={}, function=call)


def nested(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


def wide(parts: int) -> dict[str, object]:
    return {"properties": {f"p{n}": {"type": "string"} for n in range(parts)}}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (nested(3_000), "holds nested more than 100 levels deep"),
        (wide(100_000), "has more than 10,000 parts"),
    ],
)
def test_a_huge_schema_is_refused_at_once(schema: Mapping[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        made(schema)
    assert message in str(caught.value)


def test_a_schema_that_branches_without_end_gives_up() -> None:
    branching = {
        "type": "object",
        "anyOf": [
            {"properties": {"n": {"$ref": "#/$defs/x"}}, "required": [f"missing{number}"]}
            for number in range(3)
        ],
    }
    tool = taking({"$ref": "#/$defs/x"}, **{"$defs": {"x": branching}})
    value: object = {}
    for _ in range(40):
        value = {"n": value}
    assert "could not be checked against its schema" in refusal(tool, a=value)


def test_a_large_value_against_a_recursive_schema_is_no_problem() -> None:
    node = {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/n"}}}}
    tool = taking({"$ref": "#/$defs/n"}, **{"$defs": {"n": node}})
    kids: list[object] = [{"kids": [{}] * 10} for _ in range(500)]
    assert bind(tool, {"a": {"kids": kids}}, ()) == {"a": {"kids": kids}}
    assert refusal(tool, a={"kids": [*kids, {"kids": [5]}]}) == (
        "`a.kids[500].kids[0]` must be a dict, not 5"
    )


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a{60000}){60000}",
        "(?:a{000000000000060000}){60000}",
        f"{'(' * 40}a{')+' * 40}",
        f"{'(' * 24}[a)]{'){2,}' * 24}",
        f"(?x){'(' * 24}a # )\n{'){2}' * 24}",
        f"{'(' * 24}a(?#))(?#(){'){2}' * 24}",
        "a" * 10_001,
        "a{" + "9" * 5_000 + "}",
    ],
)
def test_a_pattern_that_is_never_compiled_gives_up(pattern: str) -> None:
    assert bind(taking({"pattern": pattern}), {"a": "b"}, ()) == {"a": "b"}
    assert bind(taking({"patternProperties": {pattern: {}}}), {"a": {"b": 1}}, ())


@pytest.mark.parametrize("pattern", [r"^[a-z]{1,63}(?:\.[a-z]{1,63}){0,126}$", "^.{1,65535}$"])
def test_a_pattern_with_large_bounds_holds(pattern: str) -> None:
    assert "must be text that matches" in refusal(taking({"pattern": pattern}), a="")


def test_many_parts_of_a_schema_for_many_parts_of_a_value_give_up() -> None:
    same = [{"type": "integer", "title": str(n)} for n in range(2_000)]
    tool = taking({"type": "array", "items": {"allOf": same}})
    assert "it takes too long" in refusal(tool, a=[1] * 5_000)


def test_a_pattern_that_takes_for_ever_gives_up() -> None:
    tool = taking({"pattern": "^(a|aa)+$"})
    before = time.monotonic()
    bind(tool, {"a": "a" * 5_000 + "b"}, ())
    assert time.monotonic() - before < 30


def test_all_patterns_of_one_value_have_one_time_together() -> None:
    tool = taking({"items": {"pattern": "^(a|aa)+$"}})
    slow = [f"{'a' * 60}!{number}" for number in range(2_000)]
    before = time.monotonic()
    bind(tool, {"a": [*slow, "b"]}, ())  # the last one is not looked at any more
    assert time.monotonic() - before < 30
    assert refusal(tool, a=["b"]) == "`a[0]` must be text that matches '^(a|aa)+$', not 'b'"


def test_deep_values_against_recursive_schemas_do_not_exhaust_the_stack() -> None:
    chain: dict[str, object] = {
        f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}]} for number in range(20)
    }
    chain["d20"] = {"properties": {"n": {"$ref": "#/$defs/d0"}}}
    tool = taking({"$ref": "#/$defs/d0"}, **{"$defs": chain})
    value: object = {}
    for _ in range(90):
        value = {"n": value}
    limit = sys.getrecursionlimit()
    assert "nested too deeply to be checked" in refusal(tool, a=value)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"]
)
def test_older_drafts_are_understood(draft: str) -> None:
    schema: dict[str, object] = {
        "$schema": draft,
        "type": "object",
        "definitions": {"name": {"type": "string"}},
        "properties": {"pair": {"items": [{"$ref": "#/definitions/name"}, {"type": "integer"}]}},
    }
    tool = made(schema)
    assert bind(tool, {"pair": ["x", 1]}, ()) == {"pair": ["x", 1]}
    assert refusal(tool, pair=["x", "y"]) == "`pair[1]` must be an integer, not 'y'"


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "nullable": True},
        {"type": "integer", "enum": [1, 2], "nullable": True},
        {"anyOf": [{"type": "object", "nullable": True}, {"type": "integer"}]},
        {"$ref": "#/$defs/text"},
    ],
)
async def test_nullable_of_openapi_allows_none(part: Mapping[str, object]) -> None:
    schema = {
        "type": "object",
        "nullable": True,
        "properties": {"a": part, "nullable": {"type": "boolean"}},
        "$defs": {"text": {"type": "string", "nullable": True}},
    }
    tool = made(schema, output_schema=schema)
    assert bind(tool, {"a": None, "nullable": True}, ()) == {"a": None, "nullable": True}
    assert await invoke(tool, {"a": None}) == {"a": None}
    assert "must be" in refusal(tool, a=1.5)
    assert "`nullable` must be" in refusal(tool, nullable=None)


def test_nullable_says_nothing_without_a_type_or_where_it_is_not_true() -> None:
    for more in ({"type": "string", "nullable": False}, {"enum": ["x"], "nullable": True}):
        assert "`a` must be" in refusal(taking(more), a=None)


def test_results_are_checked_against_the_output_schema() -> None:
    item = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    contract = made({}, {"type": "array", "items": item}).contract
    assert contract.deliver(({"id": 1},)) == [{"id": 1}]
    with pytest.raises(Exception, match=r"`\[1\].id` is missing"):
        contract.deliver([{"id": 1}, {}])
    with pytest.raises(Exception, match="it must be a list, not 'text'"):
        contract.deliver("text")


def test_a_function_with_a_context_keeps_it_out_of_the_arguments() -> None:
    async def body(context: Context, **arguments: object) -> object:
        return arguments

    tool = Tool.from_schema(name="a.b", input_schema={}, function=body)
    assert tool.contract.context == ("context",)
    with pytest.raises(ConfigError, match=r"parameter 'context' of 'a\.b' takes the Context"):
        Tool.from_schema(name="a.b", input_schema={"properties": {"context": {}}}, function=body)


def test_a_body_gets_its_own_copy_of_the_arguments() -> None:
    def body(a: list[int]) -> list[int]:
        a.append(2)
        return a

    tool = Tool.from_schema(name="a.b", input_schema={"properties": {"a": {}}}, function=body)
    given = {"a": [1]}
    assert tool.contract.accept(dict(given)) is not given
    body(**tool.contract.accept(dict(given)))  # pyright: ignore[reportArgumentType]  wrong on purpose
    assert given == {"a": [1]}


def test_what_is_done_to_a_schema_afterwards_changes_nothing() -> None:
    part: dict[str, object] = {"type": "string"}
    tool = taking(part)
    part["type"] = "integer"
    assert bind(tool, {"a": "x"}, ()) == {"a": "x"}
