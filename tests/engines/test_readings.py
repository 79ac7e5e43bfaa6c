"""Readings of clocks and random bytes: compact, bounded, and the same again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineshaft.engines.host.clocks import Clocks
from lineshaft.engines.host.protocol import RunEnded
from lineshaft.engines.host.readings import OutOfStep, RandomStream, Readings
from lineshaft.values import Diverged, ReplayInputs

SECOND = 1_000_000_000
steps = st.lists(st.tuples(st.booleans(), st.integers(0, 10**13), st.integers(0, 10**12)))


def read(readings: Readings, taken: list[tuple[bool, int, int]]) -> list[int]:
    """Return what clocks say whose time goes on by steps, now and then unevenly."""
    now, wall, found = 5, 10**18, list[int]()
    for is_wall, step, more in taken:
        now, wall = now + step, wall + step + more
        found.append(readings.wall(now, wall) if is_wall else readings.monotonic(now))
    return found


@given(first=steps, second=steps)
def test_readings_are_said_again_whatever_the_clocks_say_then(
    first: list[tuple[bool, int, int]], second: list[tuple[bool, int, int]]
) -> None:
    readings = Readings()
    said = read(readings, first)
    again = Readings(readings.taken())
    assert read(again, [(is_wall, 7, 7) for is_wall, _, _ in first]) == said
    again.live(9)
    more = read(again, second)
    third = Readings(again.taken())
    assert read(third, [(is_wall, 0, 0) for is_wall, _, _ in first + second]) == said + more
    third.finished()


def test_monotonic_time_goes_on_and_wall_time_is_that_of_the_world() -> None:
    readings = Readings()
    start = readings.monotonic(100)
    assert readings.monotonic(90) == start
    assert readings.monotonic(100 + SECOND) == start + SECOND
    assert abs(readings.wall(100 + SECOND, 5_000 * SECOND) - 5_000 * SECOND) <= SECOND
    later = Readings(readings.taken())
    for _ in range(3):
        later.monotonic(0)
    later.wall(0, 0)
    later.live(70 * SECOND)
    assert later.monotonic(71 * SECOND) == start + 2 * SECOND
    assert abs(later.wall(71 * SECOND, 900_000 * SECOND) - 900_000 * SECOND) <= SECOND


def test_wall_time_follows_a_run_whose_own_clock_stood_still() -> None:
    readings = Readings()
    readings.wall(0, 1_000 * SECOND)
    assert abs(readings.wall(0, 5_000 * SECOND) - 5_000 * SECOND) <= SECOND
    assert readings.monotonic(0) == readings.monotonic(0)


def test_readings_out_of_step_are_told() -> None:
    readings = Readings()
    readings.monotonic(1)
    past = readings.taken()
    more = Readings(past)
    more.monotonic(1)
    with pytest.raises(OutOfStep):
        more.monotonic(1)
    with pytest.raises(OutOfStep):
        Readings(past).live(1)
    with pytest.raises(OutOfStep):
        Readings(past).finished()


@pytest.mark.no_cover
def test_a_million_readings_are_a_few_bytes_each_and_bounded() -> None:
    readings = Readings(most=1_000_000)
    for number in range(1_000_000):
        readings.monotonic(number * 20_000)
    assert readings.torn
    assert len(readings.taken()) < 1_000_020
    assert len(Readings().taken()) == 1


def test_clocks_that_are_out_of_step_end_the_run() -> None:
    replay = ReplayInputs(seed="s")
    clocks = Clocks(replay, None)
    clocks.monotonic()
    clocks.wall()
    clocks.store()
    again = Clocks(replay, lambda: 3.0)
    with pytest.raises(RunEnded) as ended:
        again.live()
    assert isinstance(ended.value.outcome, Diverged)


def test_random_bytes_follow_from_the_seed_and_the_requests() -> None:
    first, second = RandomStream("a"), RandomStream("a")
    said = [first.take(count) for count in (4, 4, 100, 0)]
    assert [second.take(count) for count in (4, 4, 100, 0)] == said
    assert said[0] != said[1]
    assert RandomStream("b").take(4) != said[0]
    assert (first.taken, [len(part) for part in said]) == (108, [4, 4, 100, 0])
