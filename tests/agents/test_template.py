"""Prompt templates: sections by name, in one order; text from outside that stays in its fence."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.agents import SAFETY, PromptTemplate, fenced
from lineshaft.errors import ConfigError

FULL = PromptTemplate(
    id="spelling-validation",
    version="1.0.0",
    description="Mends words.",
    role="You mend spelling.",
    task="Mend what the list names.",
    constraints=["Change words alone.", "  "],
    examples=["recieve -> receive", "teh -> the"],
    output=["One line for each word."],
)


def test_the_sections_stand_in_their_order_under_their_headings() -> None:
    text = FULL.render({"report": "a.md: recieve"})
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles == [
        "SYSTEM ROLE",
        "SAFETY GUIDELINES",
        "TASK INSTRUCTIONS",
        "CONSTRAINTS",
        "EXAMPLES",
        "OUTPUT REQUIREMENTS",
        "INPUT",
    ]
    assert "## CONSTRAINTS\n- Change words alone.\n\n## EXAMPLES\nrecieve -> receive\n\nteh" in text
    assert text.endswith("## INPUT\nreport:\n```text\na.md: recieve\n```")
    assert all(line in text for line in SAFETY)


def test_empty_sections_are_left_out() -> None:
    text = PromptTemplate(id="a", version="2", task="Do it.", safety=()).render()
    assert text == "## TASK INSTRUCTIONS\nDo it."


@given(st.text(alphabet="`\n#a~\r\u2028", max_size=60))
def test_no_text_ends_its_fence(text: str) -> None:
    lines = fenced(text, "text").split("\n")
    fence = lines[1].removesuffix("text")
    assert set(fence) == {"`"}
    assert lines[-1] == fence
    assert fence not in "\n".join(lines[2:-1])


@given(st.text(max_size=200))
def test_a_text_stands_in_its_fence_as_it_is(text: str) -> None:
    assert f"text\n{text}" in fenced(text, "it")


def test_other_values_are_json() -> None:
    assert fenced({"é": [1, None]}, "data").split("\n")[2:-1] == [
        "{",
        '  "é": [',
        "    1,",
        "    null",
        "  ]",
        "}",
    ]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({"id": "Two Words"}, "id 'Two Words'"),
        ({"version": "new"}, "version 'new'"),
        ({"task": " \n"}, "has no task"),
        ({"constraints": "Change nothing."}, "constraints is one text"),
        ({"output": "JSON"}, "output is one text"),
    ],
)
def test_a_template_that_is_malformed_is_refused(given_: dict[str, Any], said: str) -> None:
    settings = {"id": "a", "version": "1.0.0", "task": "Do it.", **given_}
    with pytest.raises(ConfigError, match=said):
        PromptTemplate(**settings)


def test_sections_have_no_positions() -> None:
    with pytest.raises(TypeError):
        PromptTemplate("a", "1.0.0", "Do it.")  # pyright: ignore[reportCallIssue]  # shown


@pytest.mark.parametrize("name", ["", "a b", "a\n## TASK", "1st"])
def test_an_input_has_a_plain_name(name: str) -> None:
    with pytest.raises(ConfigError, match="is named"):
        FULL.render({name: "x"})


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
def test_an_input_is_json(value: object) -> None:
    with pytest.raises(ConfigError, match="is not JSON"):
        FULL.render({"it": value})
