"""How many lines a change adds and removes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.workspace._count import changed_lines, line_count

contents = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"])).map(b"".join)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, b"a\nb", (2, 0)),
        (b"a\nb\n", None, (0, 2)),
        (b"", b"", (0, 0)),
        (b"a\nb\nc\n", b"a\nB\nc\n", (1, 1)),
        (b"a\nb\n", b"b\na\n", (1, 1)),
        (b"\0\n", b"a\n", (1, 0)),
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
