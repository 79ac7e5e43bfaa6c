"""Judges `filter-metrics`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


NAMES = ("carts", "items", "login", "mails", "pages", "users")


def check(bench: "Bench") -> tuple[float, str]:
    """Compute the percentiles here, and compare."""
    wanted = [f"/v1/{name}" for seed, name in enumerate(NAMES, 1) if _high(seed) > 400]
    return bench.share({"endpoints": lambda: bench.answer == wanted})


def _high(seed: int) -> float:
    values = [(at * 7919 * seed % 1009) * (0.35 + 0.04 * seed) + 0.25 for at in range(1, 101)]
    return sorted(values)[94]
