"""Judges `two-calls`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the number."""
    return bench.share({"price": lambda: abs(bench.answer - 460) < 0.01})
