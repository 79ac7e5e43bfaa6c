"""Judges `filter-log`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


from collections import Counter

SERVICES = ["auth", "cart", "mail", "search"]


def check(bench: "Bench") -> tuple[float, str]:
    """Count here, and compare."""
    wanted = Counter(SERVICES[n % 4] for n in range(360) if n % 11 == 3 and n % 4 != 2)
    return bench.share({"counts": lambda: bench.answer == dict(wanted)})
