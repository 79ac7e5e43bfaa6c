"""What a person approves is seen whole: nothing hides in it, or looks like a line of ours."""

import json

import pytest

from lineshaft.cli._approver import question
from lineshaft.cli._terminal import one_line, wrapped
from lineshaft.mcp._text import clean as described
from lineshaft.mcp.front.forms import approval_form
from lineshaft.values import Pending

HIDING = [
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200d\u2028\u2029\u202e\u2060",
    "\u2066\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0072\U000e0100",
    "\u00a0\u2003\u202f\u205f\u3000",  # odd spaces
    "\ufffc\U00013441\U00013442\U00016fe4\U0001d159",  # drawn as a blank
    "\x00\x07\x1b\x7f\x85\x9b\ud800\ue000",
]


def pending(arguments: dict[str, object], diff: str = "") -> Pending:
    return Pending(id="1", tool="put", arguments=arguments, reason="why", rule="r", diff=diff)


@pytest.mark.parametrize("text", HIDING)
def test_what_cannot_be_seen_is_escaped_wherever_a_person_decides(text: str) -> None:
    call = pending({"what": text, text: "x"}, f"--- a\n+++ b\n+{text}\n")
    for shown in (one_line(text), "\n".join(question([call])), approval_form([call]).message):
        assert not [char for char in text if char in shown]
        for char in text:
            assert f"{ord(char):x}" in shown


@pytest.mark.parametrize("text", HIDING)
def test_descriptions_hide_nothing(text: str) -> None:
    assert not [char for char in text if char in described(f"a{text}b", 200)]
    assert described("caf\u00e9 \u26a0\ufe0f  x\u00a0y", 200) == "caf\u00e9 \u26a0  x y"


def test_letters_of_all_languages_stay() -> None:
    text = "Zoë 日本 हिन्दी עברית 🙂 e\u0301"
    assert one_line(text) == text


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_line_of_a_diff(mark: str) -> None:
    call = pending({}, f"--- a\n+++ b\n+x{mark}-rm = 1\n")
    for shown in ("\n".join(question([call])), approval_form([call]).message):
        assert not [line for line in shown.split("\n") if line.strip(" |").startswith("-rm")]
        assert f"{ord(mark):x}-rm = 1" in shown


@pytest.mark.parametrize("filler", [" ", "x", "日", "\t"])
def test_a_long_argument_wraps_into_no_line_of_ours(filler: str) -> None:
    forged = f"{filler * 500} 2. read_file  (harmless)\n   path: 'a'"
    lines = question([pending({"what": forged})])
    shown = "\n".join(wrapped(line, 60) for line in lines).split("\n")
    inner = shown[3:]
    assert len(inner) > 8
    assert all(line.startswith(" " * 8) for line in inner)
    assert "".join(line.strip() for line in inner).endswith("path: 'a'")


def test_colours_take_no_room_and_narrow_terminals_are_left_alone() -> None:
    assert wrapped("\x1b[1mabc\x1b[0m" + "d" * 17, 20) == "\x1b[1mabc\x1b[0m" + "d" * 17
    assert wrapped("d" * 30, 20) == "d" * 20 + "\n        " + "d" * 10
    assert wrapped("d" * 30, 10) == "d" * 30


def test_a_form_shows_arguments_as_json_on_one_line() -> None:
    message = approval_form([pending({"what": "a\n2. other\u2028b"})]).message
    assert len(message.split("\n")) == 3
    assert json.loads(message.split("what: ")[1].replace("\\u2028", " ")) == "a\n2. other b"
