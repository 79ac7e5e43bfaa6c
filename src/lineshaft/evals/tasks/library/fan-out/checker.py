"""Judges `fan-out`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


WANTED = [f"host-{number:02}" for number in range(30) if number * 7 % 5 > 2]


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the names."""
    return bench.share({"names": lambda: bench.answer == WANTED})
