"""Judges `judge-tone`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


WANTED = {"a": "angry", "b": "pleased", "c": "pleased", "d": "angry", "e": "pleased"}


def check(bench: "Bench") -> tuple[float, str]:
    """Compare each judgement."""
    return bench.share(
        {
            name: lambda name=name, tone=tone: bench.answer[f"{name}.txt"] == tone
            for name, tone in WANTED.items()
        }
    )
