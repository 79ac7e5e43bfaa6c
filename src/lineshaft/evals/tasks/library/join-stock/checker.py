"""Judges `join-stock`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the numbers."""
    wanted = [f"a-{number}" for number in range(1, 21) if number % 6 == 4]
    return bench.share({"articles": lambda: bench.answer == wanted})
