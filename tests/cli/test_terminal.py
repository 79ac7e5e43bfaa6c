"""Text on a terminal cannot move the cursor, and output elsewhere stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.cli._shape import call_line, counted, size, took, value_text
from lineshaft.cli._terminal import clean, one_line


def test_escapes_become_visible() -> None:
    assert (
        clean("\x1b[2J\x1b]0;title\x07 \r\x08 \x9b")
        == "\\x1b[2J\\x1b]0;title\\x07 \\x0d\\x08 \\x9b"
    )
    assert clean("a\u202eb\u200bc") == "a\\u202eb\\u200bc"
    assert clean("a\u3164b\U000e0041") == "a\\u3164b\\U000e0041"


def test_text_lines_tabs_and_letters_stay() -> None:
    text = "one\n\ttwo\nZoë 日本 🙂 12\xa0€\u3000"
    assert clean(text) == text
    assert clean("a\r\nb") == "a\nb"


@given(st.text())
def test_no_text_leaves_a_control_character(text: str) -> None:
    shown = clean(text)
    assert not [c for c in shown if ord(c) < 32 and c not in "\n\t"]
    assert not [c for c in shown if 0x7F <= ord(c) < 0xA0]
    assert "\n" not in one_line(text)


def test_a_long_line_is_cut() -> None:
    assert one_line("x" * 300, 10) == "xxxxxxxxx…"


def test_a_call_is_one_line_whatever_its_arguments_hold() -> None:
    line = call_line("write_file", {"path": "a\nb", "content": "\x1b[31m"})
    assert line == 'write_file path="a\\nb" content="\\u001b[31m"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("plain", "plain"),
        (3, "3"),
        (True, "true"),
        ([1, {"ä": None}], '[1,{"ä":null}]'),
    ],
)
def test_a_value_is_text_as_it_is_or_json(value: object, text: str) -> None:
    assert value_text(value) == text


def test_amounts_read_well() -> None:
    assert [took(ms) for ms in (3.4, 1234, 125_000)] == ["3 ms", "1.2 s", "2 min 05 s"]
    assert [size(n) for n in (7, 1500, 5_200_000, 3_000_000_000)] == [
        "7 B",
        "1.5 kB",
        "5.2 MB",
        "3.0 GB",
    ]
    assert [counted(n, "call") for n in (0, 1, 1200)] == ["0 calls", "1 call", "1,200 calls"]


def test_an_emoji_keeps_its_colours() -> None:
    assert clean("\u26a0\ufe0f done") == "\u26a0\ufe0f done"
