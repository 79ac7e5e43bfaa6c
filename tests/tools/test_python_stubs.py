# ruff: noqa: E501  the stubs are as long as they are
"""Python stubs as people, models and type checkers read them: golden."""

from typing import Literal, NotRequired, cast

import pytest
from typing_extensions import TypedDict

from lineshaft.tools import (
    Tool,
    Toolset,
    WorkspacePath,
    checker_stubs,
    describe,
    python_stubs,
    signature,
    tool,
)
from lineshaft.values import ToolSpec


class Edit(TypedDict):
    """One replacement."""

    old: str
    new: NotRequired[str]


class Done(TypedDict):
    path: str
    count: int


@tool(effect="write")
async def edit_file(
    path: WorkspacePath,
    edits: list[Edit],
    mode: Literal["fast", "safe"] = "safe",
    limit: int | None = None,
) -> Done:
    """Edit a file.

    All edits, or none.

    Args:
        path: The file.
        edits: In order.
    """
    raise NotImplementedError


@tool(effect="read")
async def temperature(city: str) -> float:
    r"""Return "the" temperature; \n is no line break, and a quote ends it: "hot"."""
    raise NotImplementedError


async def call(**arguments: object) -> object:
    return arguments


ISSUE: dict[str, object] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "description": "Number\nof the issue."},
        "created-at": {"type": "string", "format": "date-time"},
        "parent": {"$ref": "#/$defs/Issue"},
    },
    "required": ["id"],
    "additionalProperties": True,
}

list_issues = Tool.from_schema(
    name="github.list",
    description="List issues.",
    input_schema={
        "type": "object",
        "properties": {
            "repo": {"type": "string", "description": "owner/name"},
            "state": {"enum": ["open", "closed", None], "default": "open"},
            "labels": {"type": "array", "items": {"type": "string"}},
            "per-page": {"type": "integer"},
            "span": {
                "prefixItems": [{"type": "number"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
                "default": [1, "d"],
            },
            "point": {"type": "object", "properties": {"x": {"type": "number"}}},
        },
        "required": ["repo"],
    },
    output_schema={
        "type": "array",
        "items": {"$ref": "#/$defs/Issue"},
        "$defs": {"Issue": ISSUE},
    },
    function=call,
)

TOOLS = Toolset([edit_file, temperature, list_issues])

HUMAN = '''\
from typing import Literal, NotRequired, TypedDict
from builtins import list as list_

class Edit(TypedDict):
    """One replacement."""
    old: str
    new: NotRequired[str]

class Done(TypedDict):
    path: str
    count: int

class ListPoint(TypedDict):
    x: NotRequired[float]

Issue = TypedDict("Issue", {
    "id": int,  # Number of the issue.
    "created-at": NotRequired[str],  # (date-time)
    "parent": NotRequired[Issue],
    # and further keys
})

async def edit_file(path: str, edits: list_[Edit], mode: Literal["fast", "safe"] = "safe", limit: int | None = None) -> Done:
    """Edit a file.

    All edits, or none.

    Args:
        path: The file.
        edits: In order.
    """

async def temperature(city: str) -> float:
    """Return "the" temperature; \\\\n is no line break, and a quote ends it: "hot"."""

class github:
    @staticmethod
    async def list(repo: str, *, state: Literal["open", "closed"] | None = "open", labels: list_[str] = ..., span: tuple[float, str] = (1, "d"), point: ListPoint = ..., **more: int) -> list_[Issue]:
        """List issues.

        Args:
            repo: owner/name
            **{"per-page": int}
        """
'''

MAIN = """\
from typing import Literal, Mapping, NotRequired, Sequence, TypedDict
class Edit(TypedDict):
    old: str
    new: NotRequired[str]
class Done(TypedDict):
    path: str
    count: int
async def edit_file(path: str, edits: Sequence[Edit] | Sequence[Mapping[str, str]], mode: Literal["fast", "safe"] = "safe", limit: int | None = None) -> Done: ...
async def temperature(city: str) -> float: ...
"""

GITHUB = """\
from typing import Literal, Mapping, NotRequired, Sequence, TypedDict
from builtins import list as list_
class ListPoint(TypedDict):
    x: NotRequired[float]
Issue = TypedDict("Issue", {
    "id": int,
    "created-at": NotRequired[str],
    "parent": NotRequired[Issue],
})
async def list(repo: str, *, state: Literal["open", "closed"] | None = "open", labels: list_[str] | tuple[str, ...] = ..., per_page: int = ..., span: Sequence[float | str] = (1, "d"), point: ListPoint | Mapping[str, float] = ..., **more: int) -> list_[Issue]: ...
"""


def test_stubs_for_readers_keep_defaults_descriptions_and_namespaces() -> None:
    assert python_stubs(TOOLS.specs) == HUMAN


def test_stubs_for_a_checker_take_loosely_and_give_exactly() -> None:
    stubs = checker_stubs(TOOLS.specs)
    assert stubs.main == MAIN
    assert dict(stubs.modules) == {"github": GITHUB, "tools": MAIN}


def test_no_tools_give_valid_empty_stubs() -> None:
    assert python_stubs([]) == "\n"
    assert checker_stubs([]).main == "\n"
    assert set(checker_stubs([]).modules) == {"tools"}


def test_a_signature_is_one_line_with_the_keys_of_dicts() -> None:
    assert signature(edit_file.spec) == (
        'edit_file(path: str, edits: list[{"old": str, "new"?: str}], '
        'mode: Literal["fast", "safe"] = "safe", limit: int | None = None) '
        '-> {"path": str, "count": int}'
    )
    assert signature(list_issues.spec).startswith("github.list(repo: str, *, state: ")


def test_a_description_has_types_signature_and_words() -> None:
    text = describe(list_issues.spec)
    assert 'Issue = TypedDict("Issue"' in text
    assert "async def github.list(repo: str, *, " in text
    assert "repo: owner/name" in text


def test_a_text_over_budget_loses_words_first_then_types_and_never_parameters() -> None:
    full = python_stubs(TOOLS.specs)
    short = python_stubs(TOOLS.specs, budget=len(full) - 1)
    assert "All edits, or none." not in short
    assert "Edit a file." in short
    assert "class Edit" in short
    coarse = python_stubs(TOOLS.specs, budget=len(short) - 1)
    assert "class Edit" not in coarse
    assert "edits: list_[dict[str, Any]]" in coarse
    assert "Edit a file." in coarse
    least = python_stubs(TOOLS.specs, budget=1)
    assert "Edit a file." not in least
    assert "limit: int | None = None" in least


def spec(name: str, part: object, **more: object) -> ToolSpec:
    schema = {"type": "object", "properties": {"a": part}, **more}
    return ToolSpec(name=name, input_schema=schema)


KINDS: list[tuple[object, str]] = [
    ({}, "a: Any = ..."),
    (True, "a: Any = ..."),
    ({"type": "number", "default": 1}, "a: float = 1"),
    ({"type": "integer", "default": "x"}, "a: int = ..."),
    ({"type": "string", "default": None}, "a: str = ..."),
    ({"type": ["string", "null"], "default": None}, "a: str | None = None"),
    ({"type": "string", "default": 'say "x"\n'}, "a: str = 'say \"x\"\\n'"),
    ({"enum": [1, True, "x", None]}, 'a: Literal[1, True, "x"] | None = ...'),
    ({"enum": [1.5, {}]}, "a: float | dict[str, Any] = ..."),
    ({"const": "x"}, 'a: Literal["x"] = ...'),
    ({"enum": list(range(100))}, "a: int = ..."),
    ({"enum": ["x" * 1_000]}, "a: str = ..."),
    ({"type": "array"}, "a: list[Any] = ..."),
    ({"items": {"type": "string"}, "default": ["x"]}, 'a: list[str] = ["x"]'),
    (
        {"additionalProperties": {"type": "integer"}, "default": {"b": 1}},
        'a: dict[str, int] = {"b": 1}',
    ),
    (
        {"additionalProperties": {"type": "integer"}, "default": {"b": "c"}},
        "a: dict[str, int] = ...",
    ),
    (
        {
            "type": "array",
            "items": {"type": "array", "items": {"type": "integer"}},
            "default": [[1], []],
        },
        "a: list[list[int]] = [[1], []]",
    ),
    ({"prefixItems": [{"type": "string"}]}, "a: list[Any] = ..."),
    ({"prefixItems": [{"type": "string"}], "items": False}, "a: list[str] = ..."),
    ({"type": "object"}, "a: dict[str, Any] = ..."),
    ({"additionalProperties": {"type": "integer"}}, "a: dict[str, int] = ..."),
    ({"patternProperties": {"x": {"type": "integer"}}}, "a: dict[str, int] = ..."),
    ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "a: str | int = ..."),
    ({"anyOf": [{"type": "string"}, {}]}, "a: Any = ..."),
    ({"type": "string", "anyOf": [{"minLength": 1}, {"maxLength": 5}]}, "a: str = ..."),
    ({"allOf": [{"type": "string"}, {"minLength": 1}]}, "a: str = ..."),
    ({"$ref": "#/$defs/Missing"}, "a: Any = ..."),
    ({"$ref": "https://example.org/schema"}, "a: Any = ..."),
    ({"type": "nonsense"}, "a: Any = ..."),
    ({"minLength": 1}, "a: Any = ..."),
    (5, "a: Any = ..."),
]


@pytest.mark.parametrize(("part", "written"), KINDS)
def test_every_kind_of_schema_has_a_type(part: object, written: str) -> None:
    assert f"(*, {written}) -> Any" in python_stubs([spec("t", part)])


def test_defaults_of_records_and_tuples_are_written_as_their_types_are() -> None:
    @tool
    async def put(
        at: tuple[int, str] = (1, "x"),
        only: tuple[int] = (2,),
        edit: Edit | None = {"old": "a"},  # noqa: B006  it is looked at, not changed
        either: list[int] | str = "all",
    ) -> None:
        """Put something."""

    written = python_stubs([put.spec])
    assert 'at: tuple[int, str] = (1, "x")' in written
    assert "only: tuple[int] = (2,)" in written
    assert 'edit: Edit | None = {"old": "a"}' in written
    assert 'either: list[int] | str = "all"' in written


def test_required_parameters_have_no_default_even_if_the_schema_gives_one() -> None:
    needed = spec("t", {"type": "integer", "default": 1}, required=["a"])
    assert "(*, a: int) -> Any" in python_stubs([needed])


def test_open_arguments_are_keywords() -> None:
    assert "(*, a: str = ..., **more: int) -> Any" in python_stubs(
        [spec("t", {"type": "string"}, additionalProperties={"type": "integer"})]
    )
    assert "(**more: Any) -> Any" in python_stubs([ToolSpec(name="t", input_schema={})])


def test_alternatives_of_an_object_are_all_told() -> None:
    part = {
        "allOf": [
            {"properties": {"x": {"type": "string"}}, "required": ["x"]},
            {"oneOf": [{"properties": {"y": {"type": "integer"}}}, {"required": ["z"]}]},
        ],
        "type": "object",
    }
    text = python_stubs([spec("t", part)])
    assert "class TA(TypedDict):\n    x: str\n    y: NotRequired[int]" in text


def test_records_of_one_name_are_one_if_they_are_the_same_and_two_if_not() -> None:
    same = {"$defs": {"Item": {"type": "object", "properties": {"x": {"type": "string"}}}}}
    other = {"$defs": {"Item": {"type": "object", "properties": {"x": {"type": "integer"}}}}}
    reference = {"$ref": "#/$defs/Item"}
    text = python_stubs(
        [spec("a", reference, **same), spec("b", reference, **same), spec("c", reference, **other)]
    )
    assert text.count("class Item(TypedDict)") == 1
    assert "def b(*, a: Item = ...)" in text
    assert "def c(*, a: Item2 = ...)" in text


def test_a_type_that_contains_itself_is_told_by_name() -> None:
    text = python_stubs([spec("tree", {"$ref": "#"})])
    assert "class TreeA(TypedDict):\n    a: NotRequired[TreeA]" in text


def test_control_characters_in_descriptions_do_no_harm() -> None:
    nasty = ToolSpec(name="t", description='x\x1b[31m """ \\', input_schema={"properties": {}})
    assert python_stubs([nasty]) == (
        'async def t() -> Any:\n    """x [31m \\"\\"\\" \\\\"""\n'.replace("async", HEAD + "async")
    )


HEAD = "from typing import Any\n\n"


def nested(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def branching() -> dict[str, object]:
    following = {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(60)}
    both = {
        f"e{n}": {
            "anyOf": [{"$ref": f"#/$defs/e{n + 1}"}, {"items": {"$ref": f"#/$defs/e{n + 1}"}}]
        }
        for n in range(60)
    }
    return {"properties": {"a": {"$ref": "#/$defs/e0"}}, "$defs": {**following, **both}}


HUGE: list[dict[str, object]] = [
    nested(3_000),
    branching(),
    {"properties": {f"p{n}": {"enum": [f"v{n}"]} for n in range(20_000)}},
    {"properties": {f"p{n}": {"properties": {"x": {}}} for n in range(20_000)}},
]


@pytest.mark.parametrize("schema", HUGE)
def test_a_huge_schema_becomes_a_short_stub(schema: dict[str, object]) -> None:
    huge = ToolSpec(name="t", input_schema=schema, output_schema=schema)
    assert len(python_stubs([huge])) < 60_000
    assert len(checker_stubs([huge]).main) < 60_000
    assert len(signature(huge)) < 20_000
    many = len(cast("dict[str, object]", schema["properties"])) > 200
    assert ("**more: Any" in python_stubs([huge])) == many


def test_a_tool_may_have_the_name_of_a_type() -> None:
    named = spec("Literal", {"enum": ["x"]})
    text = python_stubs([named])
    assert "from typing import Any, Literal as Literal_" in text
    assert 'async def Literal(*, a: Literal_["x"] = ...)' in text
