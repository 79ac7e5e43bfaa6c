"""The schemas that signatures and docstrings become: golden."""

import dataclasses
import datetime
import enum
import json
import pathlib
from collections.abc import Callable
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict, cast

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from lineshaft.errors import ConfigError
from lineshaft.session import Session
from lineshaft.tools import Tool, WorkspacePath, tool
from lineshaft.values import Context


class Level(enum.Enum):
    """How loud."""

    LOW = "low"
    HIGH = "high"


class Edit(TypedDict):
    """One replacement."""

    old: str
    new: NotRequired[str]


@dataclasses.dataclass
class Span:
    """Lines."""

    start: int
    end: int | None = None


class Author(BaseModel):
    """Who did it."""

    name: str = Field(description="Full name.")
    friends: "list[Author]" = []


class Report(typing_extensions.TypedDict):
    """What was done."""

    done: bool
    at: datetime.datetime


@tool(effect="write")
async def change(
    context: Context,
    path: WorkspacePath,
    edits: list[Edit],
    author: Author,
    span: Span | None = None,
    level: Level = Level.LOW,
    mode: Literal["fast", "safe"] = "safe",
    count: Annotated[int, Field(ge=1, description="Stated with the type.")] = 3,
    pair: tuple[int, str] = (1, "a"),
    tags: frozenset[str] = frozenset(),
    extra: Any = None,
    where: dict[str, float] | None = None,
    log: pathlib.Path | None = None,
    sentinel: object = object(),
) -> Report:
    """Change a file.

    A longer story, over
    two lines.

    Args:
        context: Not told to callers.
        path: The file.
        edits: What to replace,
            in order.
        count: Not this, since the type says it.
        mode (str): How.

    Returns:
        What happened.

    Raises:
        ToolError: Never.
    """
    raise NotImplementedError


INPUT: dict[str, object] = {
    "$defs": {
        "Author": {
            "description": "Who did it.",
            "properties": {
                "name": {"description": "Full name.", "type": "string"},
                "friends": {
                    "default": [],
                    "items": {"$ref": "#/$defs/Author"},
                    "type": "array",
                },
            },
            "required": ["name"],
            "type": "object",
        },
        "Edit": {
            "additionalProperties": False,
            "description": "One replacement.",
            "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
            "required": ["old"],
            "type": "object",
        },
        "Level": {"description": "How loud.", "enum": ["low", "high"], "type": "string"},
        "Span": {
            "additionalProperties": False,
            "description": "Lines.",
            "properties": {
                "start": {"type": "integer"},
                "end": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            },
            "required": ["start"],
            "type": "object",
        },
    },
    "additionalProperties": False,
    "properties": {
        "path": {"description": "The file.", "format": "workspace-path", "type": "string"},
        "edits": {
            "description": "What to replace, in order.",
            "items": {"$ref": "#/$defs/Edit"},
            "type": "array",
        },
        "author": {"$ref": "#/$defs/Author"},
        "span": {"anyOf": [{"$ref": "#/$defs/Span"}, {"type": "null"}], "default": None},
        "level": {"$ref": "#/$defs/Level", "default": "low"},
        "mode": {
            "default": "safe",
            "description": "How.",
            "enum": ["fast", "safe"],
            "type": "string",
        },
        "count": {
            "default": 3,
            "description": "Stated with the type.",
            "minimum": 1,
            "type": "integer",
        },
        "pair": {
            "default": [1, "a"],
            "maxItems": 2,
            "minItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "type": "array",
        },
        "tags": {"items": {"type": "string"}, "type": "array", "uniqueItems": True},
        "extra": {"default": None},
        "where": {
            "anyOf": [
                {"additionalProperties": {"type": "number"}, "type": "object"},
                {"type": "null"},
            ],
            "default": None,
        },
        "log": {"anyOf": [{"format": "path", "type": "string"}, {"type": "null"}], "default": None},
        "sentinel": {},
    },
    "required": ["path", "edits", "author"],
    "type": "object",
}

OUTPUT = {
    "description": "What was done.",
    "properties": {
        "done": {"type": "boolean"},
        "at": {"format": "date-time", "type": "string"},
    },
    "required": ["done", "at"],
    "title": "Report",
    "type": "object",
}


def test_a_signature_and_its_docstring_become_schemas() -> None:
    spec = change.spec
    assert json.loads(json.dumps(spec.input_schema)) == INPUT
    assert spec.output_schema == OUTPUT
    assert spec.description == "Change a file.\n\nA longer story, over\ntwo lines."
    assert spec.paths == (("path",),)
    assert spec.positional[0] == "path"


def untyped(a, b=2):  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType]  wrong on purpose
    """Take anything."""


def test_parameters_without_types_take_anything() -> None:
    schema = Tool.from_function(cast("Callable[..., object]", untyped)).spec.input_schema
    assert schema["properties"] == {"a": {}, "b": {"default": 2}}
    assert schema["required"] == ["a"]


def returns_object() -> object: ...
def returns_any() -> Any: ...
def returns_nothing_said(): ...
def returns_none() -> None: ...
def returns_list() -> list[Span]: ...  # pyright: ignore[reportReturnType]  wrong on purpose


def test_results_have_a_schema_only_where_a_type_says_something() -> None:
    assert Tool.from_function(returns_object).spec.output_schema is None
    assert Tool.from_function(returns_any).spec.output_schema is None
    assert Tool.from_function(returns_nothing_said).spec.output_schema is None
    assert Tool.from_function(returns_none).spec.output_schema == {"type": "null"}
    listed = Tool.from_function(returns_list).spec.output_schema
    assert listed is not None
    assert listed["items"] == {"$ref": "#/$defs/Span"}


def in_default(count: int = Field(default=1, ge=1)) -> None: ...


def test_a_pydantic_field_as_a_default_is_refused() -> None:
    with pytest.raises(ConfigError, match="the default of parameter 'count'") as caught:
        Tool.from_function(in_default)
    assert "Annotated[" in caught.value.hint


def other_name(since: Annotated[int, Field(alias="from")]) -> None: ...


@pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
def test_a_parameter_with_an_alias_is_refused() -> None:
    with pytest.raises(ConfigError, match="parameter 'since' goes by another name"):
        Tool.from_function(other_name)


class Tree(TypedDict):
    """Contains itself."""

    kids: "list[Tree]"


def plant(tree: Tree) -> None: ...


@pytest.mark.skipif("sys.version_info >= (3, 12)", reason="platform: later Pythons can read it")
def test_a_typed_dict_that_contains_itself_says_what_to_use_instead() -> None:
    with pytest.raises(ConfigError, match=r"typing\.TypedDict 'Tree' contains itself") as caught:
        Tool.from_function(plant)
    assert "typing_extensions" in caught.value.hint


class Draft(TypedDict, total=False):
    """One key is required."""

    id: Required[int]
    note: str


class Issue(Draft):
    """Two keys of its own are not required."""

    title: str
    owner: NotRequired[str]
    votes: Annotated[NotRequired[int], Field(ge=0)]


class DraftInText(TypedDict, total=False):
    """`from __future__ import annotations` makes such annotations."""

    id: "Required[int]"
    note: "str"


class IssueInText(DraftInText):
    """`from __future__ import annotations` makes such annotations."""

    title: "str"
    owner: "NotRequired[str]"
    votes: "Annotated[NotRequired[int], Field(ge=0)]"


def turn(issue: Issue) -> Issue:
    return issue


def turn_in_text(issue: IssueInText) -> IssueInText:
    return issue


@pytest.mark.parametrize("made", [turn, turn_in_text])
def test_keys_are_required_as_their_annotations_say(made: Callable[..., object]) -> None:
    spec = Tool.from_function(made).spec
    properties, named = spec.input_schema["properties"], spec.input_schema.get("$defs")
    assert isinstance(properties, dict)
    taken = next(iter(cast("dict[str, object]", named or properties).values()))
    for schema in (spec.output_schema, taken):
        fields = cast("dict[str, object]", schema)
        assert sorted(cast("list[str]", fields["required"])) == ["id", "title"]
        assert json.loads(json.dumps(fields["properties"])) == {
            "id": {"type": "integer"},
            "note": {"type": "string"},
            "title": {"type": "string"},
            "owner": {"type": "string"},
            "votes": {"type": "integer", "minimum": 0},
        }


def greet(name: str, *, times: int = 1) -> str:
    """Say: hello, "you".

    :param name: Sphinx is not read, but does no harm.
    """
    return name * times


def test_docstrings_of_other_styles_do_no_harm() -> None:
    spec = Tool.from_function(greet).spec
    assert spec.description.startswith('Say: hello, "you".')
    assert spec.positional == ("name",)


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Bits(enum.IntFlag):
    READ = 1
    WRITE = 2
    RUN = 4


@tool(effect="read")
async def grant(access: Access, given: Access = Access.READ | Access.WRITE) -> Access:
    """Grant."""
    return access | given


@tool(effect="read")
async def add(access: Bits, given: Bits = Bits.READ | Bits.WRITE) -> Bits:
    """Add."""
    return access | given


@pytest.mark.parametrize("made", [grant, add])
async def test_flags_may_be_combined(made: Tool) -> None:
    takes = made.spec.input_schema
    (flags,) = cast("dict[str, dict[str, object]]", takes["$defs"]).values()
    assert flags == {
        "description": "READ = 1, WRITE = 2, RUN = 4; several are added",
        "type": "integer",
        "minimum": 0,
        "maximum": 7,
    }
    assert cast("dict[str, dict[str, object]]", takes["properties"])["given"]["default"] == 3
    async with Session([made]) as session:
        run = await session.run(f"[await {made.name}(access=a) for a in (0, 3, 4, 5)]")
        assert run.value == [3, 3, 7, 7]
