"""How many lines a change adds and removes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.workspace._count import changed_lines, line_count

contents = st.lists(st.sampled_from([b"a\n", b"b\n", b"a\r\n", b"\n", b"\r"])).map(b"".join)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, b"a\nb", (2, 0)),
        (b"a\nb\n", None, (0, 2)),
        (b"", b"", (0, 0)),
        (b"a\nb\nc\n", b"a\nB\nc\n", (1, 1)),
        (b"a\nb\n", b"b\na\n", (1, 1)),
        (b"\0\n", b"a\n", (1, 0)),
        (b"a\r\nb\r\n", b"a\nb\n", (2, 2)),
        (b"a\rb\n", b"a\rB\n", (1, 1)),
        (b"a\nb", b"a\nb\n", (1, 1)),
        (b"a\nb", b"a\nb\nc", (2, 1)),
    ],
)
def test_lines_are_counted(old: bytes | None, new: bytes | None, expected: tuple[int, int]) -> None:
    assert changed_lines(old, new) == expected


@given(old=contents, new=contents)
def test_the_balance_is_right(old: bytes, new: bytes) -> None:
    added, removed = changed_lines(old, new)

    assert min(added, removed) >= 0
    assert line_count(old) + added - removed == line_count(new)
    assert changed_lines(old, old) == (0, 0)


def test_large_files_are_counted_without_regard_to_order() -> None:
    old = b"".join(b"%d\n" % n for n in range(3_000))
    new = b"".join(b"%d\n" % (n * 2) for n in range(3_000))

    assert changed_lines(old, new) == (1_500, 1_500)


@given(old=contents, new=contents)
def test_no_more_lines_are_counted_than_the_shortest_way_has(old: bytes, new: bytes) -> None:
    same = _longest_common(_ended(old), _ended(new))

    assert changed_lines(old, new) == (line_count(new) - same, line_count(old) - same)


def _ended(data: bytes) -> list[bytes]:
    return [line for line in re.split(rb"(?<=\n)", data) if line]


def _longest_common(old: list[bytes], new: list[bytes]) -> int:
    row = [0] * (len(new) + 1)
    for line in old:
        last = row
        row = [0]
        for at, other in enumerate(new):
            row.append(last[at] + 1 if line == other else max(row[at], last[at + 1]))
    return row[-1]


def test_lines_that_repeat_cost_no_more_than_others() -> None:
    # With a comparison of blocks this takes hours.
    old = b"".join(b"x\n" if n % 2 else b"u%d\n" % n for n in range(9_000))
    new = b"x\n" * 9_000

    assert changed_lines(old, new) == (4_500, 4_500)
