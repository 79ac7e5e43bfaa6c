"""What is told of a tool, brief or full, however much it says of itself."""

import json
from typing import Any

import pytest

from lineshaft.tools import detailed
from lineshaft.values import ToolSpec

MEGABYTE = 1_000_000


def spec(description: str = "", **schema: Any) -> ToolSpec:
    return ToolSpec(name="far.find_people", description=description, input_schema=schema)


PEOPLE = ToolSpec(
    name="far.find-people",
    description="Find people by name. Case does not matter.\n\nUse it before `write_to`.",
    input_schema={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "A part of the name."},
            "limit": {"type": "integer", "default": 10},
        },
        "required": ["name"],
    },
)


def test_brief_is_the_signature_and_the_first_sentence() -> None:
    assert detailed(PEOPLE, "brief") == (
        "far.find_people(*, name: str, limit: int = 10) -> Any\n    Find people by name."
    )


def test_full_says_all_that_is_said() -> None:
    text = detailed(PEOPLE)
    assert "async def far.find_people(*, name: str, limit: int = 10) -> Any:" in text
    assert "Use it before `write_to`." in text
    assert "name: A part of the name." in text


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("Lists them, e.g. all. Then more.", "Lists them, e.g. all."),
        ("No stop at all", "No stop at all"),
        ("  On two\nlines. Next.", "On two lines."),
        ("Version 2.0 is out! Yes.", "Version 2.0 is out!"),
        ("\x1b[2JClears\u202e it. X", "[2JClears it."),
    ],
)
def test_the_first_sentence_is_one_safe_line(description: str, sentence: str) -> None:
    assert detailed(spec(description), "brief").split("\n    ")[1] == sentence


def test_a_tool_without_a_description_is_a_line() -> None:
    assert detailed(spec(type="object", additionalProperties=False), "brief").count("\n") == 0


def many(count: int, about: str = "x") -> dict[str, Any]:
    return {f"p{n}": {"type": "string", "description": about} for n in range(count)}


LARGE = [
    spec("word " * MEGABYTE),
    spec("x" * MEGABYTE, properties=many(3)),
    spec("Finds.", properties=many(5, "y" * MEGABYTE)),
    spec("Finds.", properties=many(5_000)),
    spec("Finds.", properties={"k" * MEGABYTE: {"type": "string"}}),
    spec("Finds.", properties={"a": {"enum": ["z" * MEGABYTE] * 5}}),
    spec("Finds.", properties={"a": {"type": "object", "properties": many(3_000)}}),
    ToolSpec(
        name="far.find", output_schema={"type": "object", "properties": many(3_000, "o" * 99)}
    ),
    ToolSpec(name="far.find", output_schema=json.loads('{"items":' * 400 + "{}" + "}" * 400)),
]


@pytest.mark.parametrize("tool", LARGE, ids=range(len(LARGE)))
@pytest.mark.parametrize("most", [80, 320, 4_000])
def test_no_text_is_longer_than_asked_for(tool: ToolSpec, most: int) -> None:
    for detail in ("brief", "full"):
        text = detailed(tool, detail, most=most)
        assert len(text) <= most
        assert "far" in text
    assert detailed(tool, "brief", most=most).startswith("far.find")


def test_the_names_that_must_be_given_are_told_first() -> None:
    wide = spec("Finds.", properties=many(200), required=["p150"])
    assert detailed(wide, "brief").startswith("far.find_people(p150, p0?")
