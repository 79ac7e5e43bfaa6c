"""Text for a model, and the output of commands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.processes import Capture
from lineshaft.trace import condense_command_output, cut_for_model, strip_ansi


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended\nnext", "\nnext"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x1b(Bx\x1b=y\x1b", "xy"),
        ("\x9b31mred", "red"),
        ("a\x08b bell\x07 nul\x00", "b bell nul"),
        ("tab\tline\nreturn\rend", "tab\tline\nreturn\rend"),
    ],
)
def test_terminal_codes_go(text: str, plain: str) -> None:
    assert strip_ansi(text) == plain


@given(st.text(st.sampled_from("\x1b[]0;mA\x07\n\x9b\\P\x08"), max_size=30))
def test_nothing_of_a_terminal_code_is_left(text: str) -> None:
    assert not {"\x1b", "\x07"} & set(strip_ansi(text))


def test_a_text_within_the_limit_is_not_cut() -> None:
    assert cut_for_model("x" * 4_000) == "x" * 4_000


def test_head_and_tail_stay_and_the_rest_is_counted() -> None:
    text = "".join(f"{n:06}\n" for n in range(10_000))
    cut = cut_for_model(text)
    head, _, tail = cut.partition("\n[... ")
    said, _, tail = tail.partition(" characters left out ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(said.replace(",", "")) + len(tail) == len(text)
    assert 3_900 < len(cut) <= 4_000
    assert len(head) < len(tail)


def test_what_was_left_out_before_is_counted_too() -> None:
    capture = Capture(50_000)
    capture.add("word " * 12_000)
    once = capture.text()
    assert f"[... {capture.dropped:,} bytes left out ...]" in once
    twice = cut_for_model(once)
    said = f" characters and {capture.dropped:,} bytes left out ...]\n"
    head, _, rest = twice.partition("\n[... ")
    characters, _, tail = rest.partition(said)
    left_out = int(characters.replace(",", "")) + capture.dropped
    assert len(head) + left_out + len(tail) == 60_000
    thrice = cut_for_model(twice, 1_000)
    head, _, rest = thrice.partition("\n[... ")
    characters, _, tail = rest.partition(said)
    left_out = int(characters.replace(",", "")) + capture.dropped
    assert len(head) + left_out + len(tail) == 60_000


@pytest.mark.parametrize("at", range(1_300, 1_700, 7))
def test_a_mark_of_an_earlier_cut_is_never_cut_itself(at: int) -> None:
    mark = "\n[... 1,000 bytes left out ...]\n"
    cut = cut_for_model("X" * at + mark + "Y" * (9_000 - at))
    assert (mark in cut) != (" and 1,000 bytes left out" in cut)
    assert cut.count("left out") == 1 + (mark in cut)
    kept = cut.count("X") + cut.count("Y")
    characters = re.search(r"([\d,]+) characters", cut)
    assert characters is not None
    assert kept + int(characters[1].replace(",", "")) == 9_000


def test_lines_that_tell_of_errors_stay() -> None:
    lines = [f"line {n}" for n in range(5_000)]
    lines[2_000] = "ValueError: the first"
    lines[2_500] = "3 tests FAILED"
    cut = cut_for_model("\n".join(lines))
    assert "]\nValueError: the first\n3 tests FAILED\n[...]\n" in cut
    assert cut.startswith("line 0\n")
    assert cut.endswith("line 4999")


def test_of_many_error_lines_the_first_and_the_last_stay() -> None:
    lines = [f"error {n}" for n in range(5_000)]
    cut = cut_for_model("\n".join(["ok " * 700, *lines, "ok " * 900]), limit=4_000)
    kept = [line for line in cut.splitlines() if line.startswith("error ")]
    assert kept[0] == "error 0"
    assert kept[-1] == "error 4999"
    assert 20 < len(kept) < 200


def test_an_error_line_without_end_is_shortened() -> None:
    cut = cut_for_model("x\n" * 3_000 + "error " * 1_000 + "\n" + "x\n" * 3_000)
    assert 60 < cut.count("error ") < 70


@given(
    st.lists(st.sampled_from(["error", "x", "\n", "é", "panic\n"]), max_size=400).map("".join),
    st.integers(0, 400),
)
def test_a_cut_text_is_never_longer_than_the_limit(text: str, limit: int) -> None:
    cut = cut_for_model(text, limit)
    assert len(cut) <= limit or cut == text
    assert cut or not text or not limit


def test_a_limit_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="limit must not be negative, not -1"):
        cut_for_model("x", -1)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("10%\r50%\r100% done\nnext\r\n", "100% done\nnext\n"),
        ("a\r", "a"),
        ("\r\r", ""),
        ("\x1b[32mok\x1b[0m", "ok"),
        ("same\n" * 5 + "end", "same\n[this line 5 times]\nend"),
        ("same\n" * 3 + "end", "same\n" * 3 + "end"),
        ("a\n\n\n\n\nb", "a\n\nb"),
        (
            "".join(f"get {n} % of 9\n" for n in range(9)),
            "get 8 % of 9\n[last of 9 lines of progress]\n",
        ),
        ("".join(f"#### {n}/9\n" for n in range(9)), "#### 8/9\n[last of 9 lines of progress]\n"),
        ("".join(f"test_{n} PASSED [ {n}%]\n" for n in range(9)), "[9 lines of passing tests]\n"),
        ("".join(f"ok {n} - works\n" for n in range(9)), "[9 lines of passing tests]\n"),
        ("".join(f"  ✓ works {n} (3 ms)\n" for n in range(9)), "[9 lines of passing tests]\n"),
        ("".join(f"test a::b{n} ... ok\n" for n in range(9)), "[9 lines of passing tests]\n"),
        ("=== RUN   A\n--- PASS: A (0.00s)\n" * 4, "[8 lines of passing tests]\n"),
        ("tests/a.py ..s. [ 5%]\n" * 4, "[4 lines of passing tests]\n"),
    ],
)
def test_what_only_a_terminal_needs_goes(text: str, short: str) -> None:
    assert condense_command_output(text) == short


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one\ntwo\n",
        "row 1\nrow 2\nrow 3\nrow 4\nrow 5",
        "a PASSED\nb FAILED\nc PASSED",
        "tests/a.py ..F. [ 5%]\nE  assert 1 == 2",
        "indented\n    line",
    ],
)
def test_what_says_something_stays(text: str) -> None:
    assert condense_command_output(text) == text


@given(
    st.lists(st.sampled_from(["a\n", "FAILED x\n", "ok 1\n", "5%\r", "\n", "x" * 500]), max_size=40)
)
def test_a_failure_is_never_condensed_away(parts: list[str]) -> None:
    text = "".join(parts)
    failed = any(part == "FAILED x\n" for part in parts)
    assert ("FAILED x" in condense_command_output(text)) == failed
