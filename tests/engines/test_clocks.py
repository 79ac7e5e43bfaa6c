"""Clocks of a run, as its host keeps them."""

from itertools import count

import pytest

from lineshaft.engines.host.clocks import Clocks
from lineshaft.values import ReplayInputs

SECONDS_A_READING = 1_000_000


@pytest.mark.no_cover
@pytest.mark.long
def test_a_run_that_reads_clocks_too_often_cannot_pause_from_then_on() -> None:
    replay = ReplayInputs(seed="5a" * 32)
    clocks = Clocks(replay, count(step=SECONDS_A_READING).__next__)
    readings = [clocks.monotonic() for _ in range(2)]
    assert readings[1] - readings[0] == SECONDS_A_READING * 1_000_000_000
    for _ in range(2_000_000):
        if replay.torn:
            break
        clocks.monotonic()
    assert replay.torn
    clocks.store()
    assert len(replay.readings) < 9_000_000
