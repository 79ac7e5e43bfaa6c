"""Arguments of a call: checked before anything runs, told in the tool's own words."""

import datetime
import enum
import json
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, field_validator

from lineshaft.errors import ToolError
from lineshaft.gate._invoke import bind
from lineshaft.tools import Tool, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Even(BaseModel):
    """Holds an even number."""

    number: int

    @field_validator("number")
    @classmethod
    def check(cls, number: int) -> int:
        if number % 2:
            raise ValueError("odd")
        if number > 100:
            raise LookupError(number)
        return number


@dataclass
class Edit:
    old: str
    new: str = ""
    lines: list[int] = field(default_factory=list[int])


@tool(effect="read")
def paint(
    path: str,
    colour: Colour = Colour.RED,
    edits: list[Edit] | None = None,
    size: int | str = 1,
    at: datetime.date | None = None,
    ratio: float = 1.0,
    even: Even | None = None,
    sure: bool = False,
) -> None:
    """Paint a file."""


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]


@tool(effect="read")
def adopt(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> None:
    """Adopt a pet."""


@pytest.mark.parametrize(
    ("pet", "told"),
    [
        ({"kind": "cow"}, "`pet.kind` must be one of 'cat', 'dog', not 'cow'"),
        ({"lives": 7}, "`pet.kind` is missing: it says which form this has"),
        ({"kind": "cat", "lives": "x"}, "`pet.lives` must be"),
    ],
)
def test_the_form_of_a_value_is_told_by_what_tells_it(pet: object, told: str) -> None:
    with pytest.raises(ToolError) as caught:
        bind(adopt, {"pet": pet})
    assert told in str(caught.value)


@tool(effect="read")
def look(path: str, deep: bool = False) -> None:
    """Look at a file."""


def refusal(made: Tool, *positional: object, **arguments: object) -> ToolError:
    with pytest.raises(ToolError) as caught:
        bind(made, arguments, positional)
    assert caught.value.code == "E_INVALID_ARGS"
    assert caught.value.tool == made.name
    return caught.value


def test_arguments_come_back_as_plain_values_without_defaults() -> None:
    given = {
        "path": "a",
        "colour": Colour.BLUE,
        "edits": (Edit("x"), {"old": "y", "lines": (1, 2)}),
        "at": datetime.date(2024, 5, 31),
        "ratio": 2,
    }
    assert bind(paint, given, ()) == {
        "path": "a",
        "colour": "blue",
        "edits": [{"old": "x", "new": "", "lines": []}, {"old": "y", "lines": [1, 2]}],
        "at": "2024-05-31",
        "ratio": 2,
    }


def test_what_was_given_is_copied() -> None:
    lines = [1]
    bound = bind(paint, {"path": "a", "edits": [{"old": "x", "lines": lines}]}, ())
    lines.append(2)
    assert bound["edits"] == [{"old": "x", "lines": [1]}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "paint(): `path` is missing"),
        ({"path": 3}, "paint(): `path` must be a string, not 3"),
        ({"path": None}, "paint(): `path` must be a string, not None"),
        ({"path": "a", "colour": "green"}, "`colour` must be 'red' or 'blue', not 'green'"),
        ({"path": "a", "color": "red"}, "`color` is unknown; did you mean `colour`?"),
        ({"path": "a", "zzz": 1}, "`zzz` is unknown; there is `path`, `colour`, `edits`, `size`"),
        ({"path": "a", "edits": "abc"}, "`edits` must be a list, not 'abc'"),
        ({"path": "a", "edits": [{"new": 1}]}, "`edits[0].old` is missing"),
        ({"path": "a", "edits": [{"old": "a"}, {"old": 1}]}, "`edits[1].old` must be a string"),
        ({"path": "a", "edits": [{"old": "a", "lines": ["x"]}]}, "`edits[0].lines[0]` must be an"),
        ({"path": "a", "edits": [{"old": "a", "odl": "b"}]}, "`edits[0].odl` is unknown"),
        ({"path": "a", "size": 1.5}, "`size` must be an integer or a string, not 1.5"),
        ({"path": "a", "size": []}, "`size` must be an integer or a string, not an empty list"),
        ({"path": "a", "at": "soon"}, "`at` must be a date such as '2024-05-31', not 'soon'"),
        ({"path": "a", "ratio": "2"}, "`ratio` must be a number, not '2'"),
        ({"path": "a", "sure": "yes"}, "`sure` must be true or false, not 'yes'"),
        ({"path": "a", "sure": 1}, "`sure` must be true or false, not 1"),
        ({"path": "a", "even": {"number": 3}}, "`even.number` is refused: odd"),
        ({"path": "a", "even": {"number": 102}}, "could not be checked: LookupError(102)"),
        ({"path": "a", "even": [1, 2]}, "`even` must be a dict, not a list of 2"),
        ({"path": {1}}, "`path` is a set"),
        ({"path": b"x"}, "`path` is bytes, which JSON does not have (use text, or base64"),
        ({"path": "a", "ratio": float("nan")}, "`ratio` is nan, which JSON does not have"),
        ({"path": "\ud800"}, "`path` is text that is not valid Unicode"),
        ({"path": "a", "edits": [{2: 3}]}, "`edits[0]` is a dict with the key 2"),
        ({"path": "a", "size": 10**5000}, "`size` is an integer of too many digits"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(
    arguments: dict[str, object], message: str
) -> None:
    error = refusal(paint, **arguments)
    assert message in error.message
    assert "pydantic" not in error.message
    assert "Input" not in error.message


@tool(effect="read")
def send(
    to: Iterable[str],
    sizes: Annotated[Iterable[int], Field(max_length=2)] = (),
    named: dict[str, Iterable[int] | None] | None = None,
    rest: typing.Iterable[typing.Iterable[str]] = (),
) -> None:
    """Mail it."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": ["a", 1]}, "`to[1]` must be a string, not 1"),
        ({"to": "a"}, "`to` must be a list, not 'a'"),
        ({"to": [], "sizes": ["bad"]}, "`sizes[0]` must be an integer, not 'bad'"),
        ({"to": [], "sizes": [1, 2, 3]}, "`sizes`"),
        ({"to": [], "named": {"a": [1, "bad"]}}, "`named.a[1]` must be an integer"),
        ({"to": [], "rest": [["a"], [1]]}, "`rest[1][0]` must be a string"),
    ],
)
def test_the_items_of_an_iterable_are_looked_at_before_the_body_runs(
    arguments: dict[str, object], message: str
) -> None:
    assert message in refusal(send, **arguments).message


def test_an_iterable_is_a_list_in_the_body() -> None:
    given = {"to": ["a"], "sizes": [1], "named": {"a": [1], "b": None}, "rest": [["x"]]}
    assert send.contract.accept({**given}) == given
    assert send.spec.input_schema["properties"]["to"] == {  # pyright: ignore[reportIndexIssue, reportUnknownVariableType]  a schema
        "type": "array",
        "items": {"type": "string"},
    }


def test_the_hint_is_the_signature() -> None:
    assert refusal(look).hint == "look(path: str, deep: bool = False) -> None"
    assert 'edits: list[{"old": str, "new"?: str, "lines"?: list[int]}]' in refusal(paint).hint


def test_several_problems_are_told_at_once() -> None:
    error = refusal(paint, colour="green", size=[], ratio="x", sure=3, at=1, zzz=2)
    assert error.message.count("; ") >= 5
    assert "and 2 more" in error.message


def test_arguments_are_given_by_position_in_the_order_of_the_signature() -> None:
    assert look.spec.positional == ("path", "deep")
    assert bind(look, {}, ("a.txt",)) == {"path": "a.txt"}
    assert bind(look, {"deep": True}, ("a.txt",)) == {"deep": True, "path": "a.txt"}
    assert bind(look, {}, ("a.txt", True)) == {"deep": True, "path": "a.txt"}


@pytest.mark.parametrize(
    ("positional", "arguments", "message"),
    [
        (("a", True, 1), {}, "takes `path`, `deep` by position, got 3"),
        (("a",), {"path": "b"}, "`path` is given by position and by name"),
        ((5,), {}, "`path` must be a string, not 5"),
    ],
)
def test_any_other_use_of_positions_is_refused(
    positional: tuple[object, ...], arguments: dict[str, object], message: str
) -> None:
    assert message in refusal(look, *positional, **arguments).message


def several(first: str, second: str) -> None: ...
def optional(path: str = ".") -> None: ...
def keyword_only(first: str, *, second: str) -> None: ...
def nothing() -> None: ...


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (several, ("first", "second")),
        (optional, ("path",)),
        (keyword_only, ("first",)),
        (nothing, ()),
    ],
)
def test_positions_are_those_of_the_function(
    function: Callable[..., object], names: tuple[str, ...]
) -> None:
    made = Tool.from_function(function)
    assert made.spec.positional == names
    too_many = ["a"] * (len(names) + 1)
    assert f"by position, got {len(too_many)}" in refusal(made, *too_many).message


FOREIGN: dict[str, tuple[list[str], list[str], tuple[str, ...]]] = {
    "one required": (["depth", "path"], ["path"], ("path",)),
    "several in the order of the properties": (
        ["path", "content", "mode"],
        ["path", "content"],
        ("path", "content"),
    ),
    "several in another order": (["content", "path"], ["path", "content"], ()),
    "several in the order of the alphabet": (["content", "path"], ["content", "path"], ()),
    "none": (["path"], [], ()),
}


@pytest.mark.parametrize(("properties", "required", "names"), FOREIGN.values(), ids=FOREIGN)
def test_positions_of_a_foreign_schema_are_those_whose_order_was_chosen(
    properties: list[str], required: list[str], names: tuple[str, ...]
) -> None:
    made = Tool.from_schema(
        name="foreign",
        description="",
        input_schema={
            "type": "object",
            "properties": {name: {"type": "string"} for name in properties},
            "required": required,
        },
        function=several,
        effect="read",
    )
    assert made.spec.positional == names
    if names:
        assert bind(made, {}, tuple(names)) == {name: name for name in names}


def mail(**given: object) -> object:
    return given


def posted(*names: str) -> Tool:
    anything: dict[str, object] = {}
    schema = {"type": "object", "properties": dict.fromkeys(names, anything)}
    return Tool.from_schema(name="mail", input_schema=schema, function=mail)


def test_a_parameter_that_python_cannot_write_has_a_keyword() -> None:
    tool = posted("from", "max-results", "$top", "to")
    given = {"from_": "a", "max_results": 3, "_top": 1, "to": "b"}
    assert bind(tool, given) == {"from": "a", "max-results": 3, "$top": 1, "to": "b"}
    assert bind(tool, {"from": "a"}) == {"from": "a"}
    with pytest.raises(ToolError, match="`from` is given by the keyword from_ too") as caught:
        bind(tool, {"from": "a", "from_": "b"})
    assert caught.value.code == "E_INVALID_ARGS"


def test_a_keyword_that_may_mean_something_else_is_left_alone() -> None:
    tool = posted("max-results", "max_results", "a-b", "a b", "class", "class_")
    given = {"max_results": 1, "class_": 3}
    assert bind(tool, given) == given
    with pytest.raises(ToolError, match="`a_b` is unknown"):
        bind(tool, {"a_b": 2})


def test_a_choice_of_types_stands_as_it_is_written_whatever_another_tool_says() -> None:
    def one(size: str | int) -> None: ...
    def other(size: int | str) -> None: ...

    said = [
        json.dumps(Tool.from_function(function).spec.input_schema["properties"])
        for function in (one, other)
    ]
    assert '[{"type": "string"}, {"type": "integer"}]' in said[0]
    assert '[{"type": "integer"}, {"type": "string"}]' in said[1]


def test_a_context_cannot_be_given_by_a_caller() -> None:
    from lineshaft.values import Context  # noqa: PLC0415  for this test's annotations alone

    def body(context: Context, path: str) -> None: ...

    made = Tool.from_function(body)
    assert "`context` is unknown" in refusal(made, path="a", context={}).message
