"""What a tool asks a person, and what is taken for an answer."""

from typing import Any

import pytest

from lineshaft.cli._form import FormField, UnfitAnswer, fields_of


def field(schema: dict[str, Any], *, required: bool = True) -> FormField:
    names = ["a"] if required else []
    (found,) = fields_of({"type": "object", "properties": {"a": schema}, "required": names})
    return found


COLOURS = {"type": "string", "enum": ["r", "b"], "enumNames": ["red", "blue"]}
TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "red"}, {"const": "b"}]}
SEVERAL = {"type": "array", "items": {"anyOf": [{"const": 1, "title": "one"}, {"const": 2}]}}


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "string"}, " hi there \n", "hi there"),
        ({}, "x", "x"),
        ({"type": ["string", "null"]}, "x", "x"),
        ({"type": "integer"}, "-3", -3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "off", False),
        (COLOURS, "2", "b"),
        (COLOURS, "red", "r"),
        (TITLED, "r", "r"),
        (TITLED, "2", "b"),
        (SEVERAL, "1, 2", [1, 2]),
        ({"type": "string", "default": "x"}, "", "x"),
    ],
)
def test_an_answer_becomes_a_value(schema: dict[str, Any], typed: str, value: object) -> None:
    assert field(schema).read(typed) == value


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "string"}, " "),
        ({"type": "string", "minLength": 3}, "ab"),
        ({"type": "string", "maxLength": 1}, "ab"),
        ({"type": "integer"}, "2.5"),
        ({"type": "integer", "minimum": 3}, "2"),
        ({"type": "number", "maximum": 3}, "4"),
        ({"type": "number", "maximum": 3}, "nan"),
        ({"type": "number"}, "-inf"),
        ({"type": "boolean"}, "perhaps"),
        (COLOURS, "3"),
        (COLOURS, "0"),
        (COLOURS, "green"),
        (SEVERAL, "1 5"),
        (COLOURS, "9" * 5_000),
    ],
)
def test_what_is_no_answer_is_asked_again(schema: dict[str, Any], typed: str) -> None:
    with pytest.raises(UnfitAnswer):
        field(schema).read(typed)


def test_what_is_not_needed_may_be_left_out() -> None:
    optional = field({"type": "string"}, required=False)
    assert optional.read("") is None
    assert "may be empty" in optional.question


def test_a_question_cannot_do_anything_to_the_terminal() -> None:
    hostile = field({"type": "string", "title": "\x1b[2Jfake", "description": "a\rb\nc"})
    assert "\x1b" not in hostile.question
    assert all("\r" not in line and "\n" not in line for line in hostile.lines())


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": []}, {"properties": {"a": 3}, "required": 7}, {"properties": None}],
)
def test_a_form_that_is_none_has_no_more_fields_than_it_names(schema: dict[str, Any]) -> None:
    assert [each.kind for each in fields_of(schema)] in ([], ["string"])


def test_a_form_is_bounded() -> None:
    schema = {"properties": {f"f{n}": {"enum": list(range(500))} for n in range(500)}}
    fields = fields_of(schema)
    assert len(fields) == 50
    assert len(fields[0].options) == 100
