"""Judges `one-write`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


def check(bench: "Bench") -> tuple[float, str]:
    """Compare the text."""
    text = bench.text("notes/monday.md")
    return bench.share({"text": lambda: text.strip() == "Call the printer about the blue paper."})
