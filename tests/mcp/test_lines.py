"""Lines of any length out of pieces of any size."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lineshaft.mcp.client import Cut, Lines

PIECES = st.lists(st.integers(0, 40), max_size=8)


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=6),
    cuts=PIECES,
)
def test_any_split_of_the_bytes_gives_the_same_lines(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    reader = Lines(10)
    found = [line for start, end in pairwise(places) for line in reader.add(data[start:end])]
    assert len(found) == len(lines)
    for line, seen in zip(lines, found, strict=True):
        if len(line) > 10:
            assert isinstance(seen, Cut)
            assert line.startswith(seen.head)
            assert line.endswith(seen.tail)
        else:
            assert seen == line


def test_of_a_line_without_end_only_the_ends_are_kept() -> None:
    reader = Lines(10_000)
    for _ in range(1_000):
        assert list(reader.add(b"x" * 10_000)) == []
    (line,) = reader.add(b"end\n")
    assert isinstance(line, Cut)
    assert line.tail.endswith(b"xend")
    assert len(line.head) + len(line.tail) < 10_000
    assert list(reader.add(b"next\n")) == [b"next"]
