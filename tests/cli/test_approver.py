"""What a person sees when calls ask, and what typed lines mean."""

import pytest

from lineshaft.cli._approver import ApprovalDialog, question
from lineshaft.values import Pending

WAITING = tuple(
    Pending(
        id=f"c{n}",
        tool="run_command",
        arguments={"command": f"ls {n}"},
        reason="it runs",
        rule="look" if n < 3 else "other",
    )
    for n in (1, 2, 3)
)


def answered(*lines: str) -> dict[str, tuple[bool, str, str]]:
    asking = ApprovalDialog(WAITING)
    for line in lines:
        assert asking.prompt, f"nothing was asked before {line!r}"
        assert asking.take(line), f"{line!r} is no answer"
    assert not asking.prompt
    return {key: (a.allow, a.reason, a.scope) for key, a in asking.answers.items()}


YES, NO = (True, "", "call"), (False, "", "call")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["y", "n", "YES\n"], [YES, NO, YES]),
        (["y", "n not on Fridays", "y"], [YES, (False, "not on Fridays", "call"), YES]),
        (["a"], [YES, YES, YES]),
        (["all of them are fine"], [(True, "of them are fine", "call")] * 3),
        (["n", "a"], [NO, YES, YES]),
        (["d too much"], [(False, "too much", "call")] * 3),
        (["y", "d"], [YES, NO, NO]),
        (["r", "n"], [(True, "", "run"), (True, "", "run"), NO]),
        (["n", "r", "y"], [NO, (True, "", "run"), YES]),
        (["2"], [NO, YES, NO]),
        (["1, 3 harmless"], [(a, "harmless", "call") for a in (True, False, True)]),
        (["n", "3"], [NO, NO, YES]),
        (["v", "y", "a"], [YES, YES, YES]),
    ],
)
def test_typed_lines_answer_the_list(
    lines: list[str], expected: list[tuple[bool, str, str]]
) -> None:
    assert list(answered(*lines).values()) == expected


def test_what_is_left_for_later_has_no_answer() -> None:
    assert answered("l") == {}
    assert answered("y", "later, it is late") == {"c1": YES}


@pytest.mark.parametrize("text", ["", "\n", "?", "maybe", "yesterday", "4", "0", "1 9", "-1", "2x"])
def test_anything_else_is_no_answer(text: str) -> None:
    asking = ApprovalDialog(WAITING)
    assert not asking.take(text)
    assert asking.answers == {}
    assert not ApprovalDialog(WAITING).take(text)


def test_a_number_that_is_answered_already_is_none() -> None:
    asking = ApprovalDialog(WAITING)
    assert asking.take("y")
    assert not asking.take("1")


def test_the_prompt_says_which_call_it_is_about() -> None:
    asking = ApprovalDialog(WAITING)
    assert asking.prompt.startswith("Allow 1 of 3: run_command? [y/n/a/d/r/l")
    asking.take("y")
    asking.take("y")
    assert asking.prompt.startswith("Allow 3 of 3: run_command? [y/n/r/l")
    assert ApprovalDialog(WAITING[:1]).prompt == "Allow? [y/n/r/l, ? for help]"


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


def test_the_question_shows_the_diff_and_says_what_it_leaves_out() -> None:
    long = "--- a/x\n+++ b/x\n" + "".join(f"+line {n}\n" for n in range(100)) + "+\x1b[2Klast\n"
    call = Pending(id="c", tool="write_file", arguments={}, reason="why", diff=long)
    text = "\n".join(question([call]))
    assert "+line 57" in text
    assert "+line 58" not in text
    assert "43 more lines" in text
    assert "v shows" in text
    whole = "\n".join(question([call], whole=True))
    assert "+line 99" in whole
    assert "+\\x1b[2Klast" in whole
    assert "v shows" not in whole


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ("x" * 1_500 + " the end", "… 508 more of 1,508 characters"),
        ("\n".join(f"line {n}" for n in range(40)) + " the end", "more of 317 characters"),
        ("rm -rf ~" + "\n" * 500 + " the end", "more of 516 characters"),
        (["y" * 2_000, "the end"], "more of 2,015 characters"),
        ({"bytes": 1, "sha256": "z" * 2_000 + "the end"}, "more of 2,033 characters"),
    ],
)
def test_a_long_argument_is_cut_says_how_long_it_is_and_v_shows_it(
    value: object, left: str
) -> None:
    call = Pending(id="c", tool="put", arguments={"content": value}, reason="why")
    cut, whole = "\n".join(question([call])), "\n".join(question([call], whole=True))
    assert left in cut
    assert "the end" not in cut
    assert "v shows all of it" in cut
    assert "the end" in whole
    assert "more of" not in whole


def test_line_breaks_push_nothing_out_of_sight() -> None:
    call = Pending(id="c", tool="put", arguments={"content": "rm -rf ~" + "\n" * 500}, reason="why")
    shown = "\n".join(question([call]))
    assert shown.count("\n") < 20
    assert "more of 508 characters" in shown
    assert "v shows all of it" in shown


def test_a_name_of_an_argument_is_cut_and_v_shows_it() -> None:
    call = Pending(id="c", tool="put", arguments={"\u202e" * 300 + "end": 1}, reason="why")
    cut, whole = "\n".join(question([call])), "\n".join(question([call], whole=True))
    assert "…: 1" in cut
    assert "v shows all of it" in cut
    assert "end: 1" in whole


def test_an_argument_of_twelve_lines_is_not_cut_for_its_last_line_break() -> None:
    text = "".join(f"line {n}\n" for n in range(12))
    call = Pending(id="c", tool="put", arguments={"content": text}, reason="why")
    shown = "\n".join(question([call]))
    assert "line 11" in shown
    assert "more of" not in shown
    assert "v shows" not in shown


def test_what_looks_like_a_summary_of_ours_is_shown_as_what_it_is() -> None:
    given = {"bytes": 1, "sha256": "rm -rf ~"}
    call = Pending(id="c", tool="put", arguments={"content": given}, reason="why")
    assert "rm -rf ~" in "\n".join(question([call]))


def test_a_tool_that_is_named_as_a_call_of_an_agents_own_hides_no_argument() -> None:
    for tool, arguments in {
        "ask_model": {"agent": "a", "turn": 1, "model": "m", "new": ["hi"], "command": "rm -rf ~"},
        "commit_changes": {"conversation": "c", "command": "rm -rf ~"},
    }.items():
        call = Pending(id="c1", tool=tool, arguments=arguments, reason="", rule="r")
        assert "command: rm -rf ~" in "\n".join(question([call]))
