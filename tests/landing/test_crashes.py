"""A process that dies at any step of a landing leaves all or none, once somebody has recovered."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lineshaft.workspace.journal import failpoints

PROGRAM = Path(__file__).with_name("crashes.py")
Death = tuple[str, str, int, str]


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Death]:
    """All deaths: the scenario, the step, how often it was reached, and what was wrong then."""
    folder = tmp_path_factory.mktemp("crashes")
    ended = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return [tuple(json.loads(line)) for line in ended.stdout.splitlines()]


def test_whoever_dies_at_a_step_leaves_all_or_none(deaths: Sequence[Death]) -> None:
    assert [death for death in deaths if death[3]] == []


def test_somebody_died_at_every_step_there_is(deaths: Sequence[Death]) -> None:
    assert {step for _, step, _, _ in deaths} == set(failpoints.STEPS)


@pytest.mark.parametrize("scenario", ["landing", "undoing", "recovering", "taking back"])
def test_each_scenario_was_played(deaths: Sequence[Death], scenario: str) -> None:
    assert len([death for death in deaths if death[0] == scenario]) > 8
