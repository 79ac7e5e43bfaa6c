"""Judges `join-servers`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.evals.tasks.scoring import Bench


NAMES = ["Aud", "Bjorn", "Dag", "Eli", "Frida", "Gro", "Hans", "Ida", "Jon", "Kari", "Liv", "Mia"]


def check(bench: "Bench") -> tuple[float, str]:
    """Compute the join here, and compare."""
    totals = {
        name: sum(
            (customer * 31 + at * 17) % 90 + 10
            for at in range(customer % 5 + 6)
            if (customer + at) % 4
        )
        for customer, name in enumerate(NAMES, 100)
        if (customer - 100) % 6 != 5
    }
    name = max(totals, key=lambda each: totals[each])
    return bench.share(
        {
            "name": lambda: bench.answer["name"] == name,
            "total": lambda: bench.answer["total"] == totals[name],
        }
    )
