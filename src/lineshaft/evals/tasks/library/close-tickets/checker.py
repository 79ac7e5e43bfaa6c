"""Judges `close-tickets`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


WANTED = [number for number in range(1, 19) if number % 3 and number % 4 == 1]


def check(bench: "Bench") -> tuple[float, str]:
    """Look at the desk."""
    closed = bench.state["closed"]
    return bench.share(
        {
            "those that match": lambda: {str(n) for n in WANTED} <= closed.keys(),
            "no other": lambda: closed.keys() <= {str(n) for n in WANTED},
            "the reason": lambda: set(closed.values()) == {"refunded"},
            "the answer": lambda: str(len(WANTED)) in str(bench.answer),
        }
    )
