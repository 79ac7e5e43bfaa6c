"""What a person sees when calls ask, and what a typed line means."""

import pytest

from lineshaft.cli._approver import question, read_answer
from lineshaft.values import Answer, Pending

WAITING = tuple(
    Pending(id=f"c{n}", tool="run_command", arguments={"command": f"ls {n}"}, reason="it runs")
    for n in (1, 2, 3)
)


@pytest.mark.parametrize(
    ("text", "allowed", "reason", "scope"),
    [
        ("y", [True, True, True], "", "call"),
        ("YES\n", [True, True, True], "", "call"),
        ("n", [False, False, False], "", "call"),
        ("n not on Fridays", [False, False, False], "not on Fridays", "call"),
        ("a", [True, True, True], "", "run"),
        ("all of them are fine", [True, True, True], "of them are fine", "run"),
        ("2", [False, True, False], "", "call"),
        ("1, 3 harmless", [True, False, True], "harmless", "call"),
    ],
)
def test_a_typed_line_answers_the_whole_list(
    text: str, allowed: list[bool], reason: str, scope: str
) -> None:
    answers = read_answer(text, WAITING)
    assert answers is not None
    assert list(answers) == ["c1", "c2", "c3"]
    assert [answer.allow for answer in answers.values()] == allowed
    assert {(a.reason, a.scope) for a in answers.values()} == {(reason, scope)}
    assert all(isinstance(answer, Answer) for answer in answers.values())


@pytest.mark.parametrize("text", ["", "\n", "?", "maybe", "yesterday", "4", "0", "1 9", "-1"])
def test_anything_else_is_no_answer(text: str) -> None:
    assert read_answer(text, WAITING) is None


def test_the_question_shows_tool_reason_and_all_arguments_without_escapes() -> None:
    call = Pending(
        id="c", tool="run_command", arguments={"command": "rm\x1b[2K x", "args": [1]}, reason="why"
    )
    text = "\n".join(question([call]))
    assert "run_command" in text
    assert "(why)" in text
    assert "command: rm\\x1b[2K x" in text
    assert "args: [1]" in text
    assert "\x1b" not in text
