"""Judges `read-one`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the number."""
    said = str(bench.answer)
    return bench.share({"port": lambda: "8457" in said and "9100" not in said})
