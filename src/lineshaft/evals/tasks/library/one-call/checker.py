"""Judges `one-call`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the number."""
    return bench.share({"temperature": lambda: bench.answer == -4.5})
