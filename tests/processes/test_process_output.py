"""Output: as it comes, in bounded memory, whatever it is."""

import resource
import sys
from itertools import pairwise
from pathlib import Path

import anyio
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.processes import Capture, start
from lineshaft.values import Command, Exit, Line

MARKS = set("\n \t\r\"'`,;&|(){}[]<>")
"""Between words."""


async def run(code: str, cwd: Path, *, stdout_bytes: int = 50_000) -> Exit:
    argv = (sys.executable, "-I", "-S", "-c", code)
    process = await start(Command(argv=argv, stdout_bytes=stdout_bytes), cwd=cwd)
    with anyio.fail_after(50):
        return await process.wait()


async def test_lines_come_tagged_and_before_the_end(tmp_path: Path) -> None:
    script = "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two >&2; printf three"
    process = await start(Command(argv=("sh", "-c", script)), cwd=tmp_path)
    seen: list[Line] = []
    async for line in process.lines():
        seen.append(line)
        if line.text == "one":
            (tmp_path / "go").touch()

    done = await process.wait()

    assert seen[0] == Line(stream="stdout", text="one")
    assert set(seen[1:]) == {
        Line(stream="stderr", text="two"),
        Line(stream="stdout", text="three"),
    }
    assert (done.stdout, done.stderr) == ("one\nthree", "two\n")


async def test_lines_of_a_program_that_has_ended_are_still_there(tmp_path: Path) -> None:
    process = await start(Command(argv=("sh", "-c", "echo a; echo b")), cwd=tmp_path)
    lines = process.lines()
    await process.wait()

    assert [line.text async for line in lines] == ["a", "b"]


async def test_a_flood_is_read_in_bounded_memory(tmp_path: Path) -> None:
    code = (
        "import sys\nw = sys.stdout.buffer.write\nw(b'first\\n')\n"
        "for _ in range(100): w(b'x' * 1_000_000)\n"
        "w(b'\\nlast\\n')"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    done = await run(code, tmp_path)

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # KiB
    assert done.stdout_bytes == 100_000_012
    assert done.stdout_truncated
    assert done.stdout.startswith("first\nxxx")
    assert done.stdout.endswith("xxx\nlast\n")
    assert f"[... {100_000_012 - 50_000:,} bytes left out ...]" in done.stdout
    assert len(done.stdout) < 50_100


async def test_a_program_waits_for_whoever_takes_its_lines(tmp_path: Path) -> None:
    code = "for n in range(200_000): print(n)"
    argv = (sys.executable, "-I", "-S", "-c", code)
    process = await start(Command(argv=argv), cwd=tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expected = 0
    with anyio.fail_after(50):
        async for line in process.lines():
            assert line.text == str(expected)
            expected += 1
        await process.wait()

    assert expected == 200_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


async def test_leaving_the_lines_early_does_not_hold_the_program_up(tmp_path: Path) -> None:
    code = "for n in range(200_000): print(n)"
    argv = (sys.executable, "-I", "-S", "-c", code)
    process = await start(Command(argv=argv), cwd=tmp_path)
    async for _ in process.lines():
        break

    with anyio.fail_after(50):
        assert (await process.wait()).exit_code == 0


async def test_a_line_without_end_comes_in_pieces(tmp_path: Path) -> None:
    argv = (sys.executable, "-I", "-S", "-c", "print('é' * 200_000, end='')")
    process = await start(Command(argv=argv, env={"PYTHONUTF8": "1"}), cwd=tmp_path)

    pieces = [line.text async for line in process.lines()]
    await process.wait()

    assert max(map(len, pieces)) <= 65_536
    assert set("".join(pieces)) == {"é"}


async def test_binary_output_becomes_text(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 300)"

    done = await run(code, tmp_path, stdout_bytes=1_000)

    assert done.stdout_bytes == 256 * 300
    assert done.stdout_truncated
    assert "\ufffd" in done.stdout
    done.stdout.encode()


def test_the_head_gets_forty_percent_and_the_tail_sixty() -> None:
    capture = Capture(100)
    capture.add(b"h" * 500)
    capture.add(b"t" * 500)

    head, marker, tail = capture.text().split("\n")

    assert (len(head), len(tail)) == (40, 60)
    assert marker == "[... 900 bytes left out ...]"
    assert (capture.total, capture.dropped) == (1_000, 900)


def test_nothing_is_kept_of_a_limit_of_nothing() -> None:
    capture = Capture(0)
    capture.add("text")

    assert capture.text() == "\n[... 4 bytes left out ...]\n"


def test_text_that_is_no_unicode_is_taken() -> None:
    capture = Capture(100)
    capture.add("a\ud800b")

    assert capture.text() == "a\\ud800b"


@given(parts=st.lists(st.text(max_size=40), max_size=12), limit=st.integers(0, 120))
def test_kept_text_is_cut_between_characters(parts: list[str], limit: int) -> None:
    whole = "".join(parts)
    capture = Capture(limit)
    for part in parts:
        capture.add(part.encode())

    text = capture.text()

    assert capture.total == len(whole.encode())
    if capture.total <= limit:
        assert (text, capture.dropped) == (whole, 0)
        return
    marker = f"\n[... {capture.dropped:,} bytes left out ...]\n"
    head, _, tail = text.partition(marker)
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert capture.dropped == capture.total - len((head + tail).encode())
    if not set(whole) & MARKS:  # a word without end is cut all the same
        assert len((head + tail).encode()) > limit - 8


@given(data=st.binary(max_size=300), cuts=st.lists(st.integers(0, 300)), limit=st.integers(0, 99))
def test_any_split_of_the_bytes_gives_the_same_text(
    data: bytes, cuts: list[int], limit: int
) -> None:
    once, parts = Capture(limit), Capture(limit)
    once.add(data)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start_at, end_at in pairwise(edges):
        parts.add(data[start_at:end_at])

    assert once.text() == parts.text()
    assert once.dropped == parts.dropped
