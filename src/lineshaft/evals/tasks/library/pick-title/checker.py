"""Judges `pick-title`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the letter."""
    return bench.share({"title": lambda: str(bench.answer).strip(" .*`").upper() == "B"})
