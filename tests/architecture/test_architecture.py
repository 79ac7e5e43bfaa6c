"""The way of a call is as short as it is told, and `docs/architecture.md` tells it as it is."""

import sys

import pytest

from architecture.ways import PAGE, of_a_call, written


def test_a_call_comes_to_its_tool_by_seven_frames_and_few_functions() -> None:
    ways = [of_a_call() for _ in range(4)]
    assert {way.lines[-1].strip() for way in ways} == {"- `temperature` (the tool itself)"}
    assert {way.frames for way in ways} <= set(range(8))
    # One more where a second begins during the call, and one more where the writer sleeps.
    assert min(way.calls for way in ways) <= 64


@pytest.mark.skipif(
    sys.platform != "linux", reason="platform: a landing passes other functions there"
)
def test_the_page_tells_the_ways_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run ./dev architecture"
