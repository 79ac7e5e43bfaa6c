"""Judges `validators`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Run the hidden tests."""
    return bench.tests("test_validators")
