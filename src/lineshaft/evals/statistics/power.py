"""The number of runs that a claim takes."""

import math
from functools import lru_cache

from lineshaft.evals.statistics.distributions import normal_quantile
from lineshaft.evals.statistics.proportions import difference_limit

_STEP = 20
_MOST = 1_000
_NEGLIGIBLE = 1e-6
_POWER = 0.8
"""The share of sweeps that are to show what is there."""


@lru_cache(maxsize=256)
def shown_no_worse(rate: float, runs: int, margin: float) -> float:
    """Return the share of sweeps that show two equal arms to be no worse than one another.

    Computed over all pairs of pass counts, as a pooled comparison.

    Args:
        rate: Pass rate of both arms.
        runs: Runs of each.
        margin: What still counts as no worse, such as 0.1.
    """
    chances = [_chance(passes, runs, rate) for passes in range(runs + 1)]
    likely = [(x, chance) for x, chance in enumerate(chances) if chance > _NEGLIGIBLE]
    return sum(
        own * other
        for x, own in likely
        for y, other in likely
        if difference_limit(x / runs, runs, y / runs, runs) > -margin
    )


def _chance(passes: int, runs: int, rate: float) -> float:
    """Return a binomial chance, by logarithms: the numbers of ways are too large for a float."""
    ways = math.lgamma(runs + 1) - math.lgamma(passes + 1) - math.lgamma(runs - passes + 1)
    return math.exp(ways + passes * math.log(rate) + (runs - passes) * math.log1p(-rate))


def runs_needed(rate: float, *, margin: float) -> int | None:
    """Return the runs an arm takes until equal arms are shown to be no worse, in steps of 20.

    Args:
        rate: Pass rate of both arms.
        margin: What still counts as no worse.

    Returns:
        The number; None: far more than 1,000.
    """
    rate = min(max(rate, 0.01), 0.99)
    low, high = 0, 1
    while shown_no_worse(rate, high * _STEP, margin) < _POWER:
        low, high = high, 2 * high
        if low * _STEP >= _MOST:
            return None
    while low + 1 < high:
        middle = (low + high) // 2
        if shown_no_worse(rate, middle * _STEP, margin) >= _POWER:
            high = middle
        else:
            low = middle
    return high * _STEP


def detectable_drop(rate: float, runs: int) -> float:
    """Return the smallest drop of a pass rate that a one-sided test at 5 % sees, approximately.

    Args:
        rate: Pass rate of the arm that is the base.
        runs: Runs of each arm.

    Returns:
        The drop; 1 where so few runs do not even see that nothing passes any more.
    """
    if runs <= 0:
        return 1.0
    z = normal_quantile(0.95) + normal_quantile(_POWER)
    for step in range(1, 101):
        drop = min(step / 100, rate)
        low = rate - drop
        deviation = math.sqrt((rate * (1 - rate) + low * (1 - low)) / runs)
        if drop and drop >= z * deviation and drop >= 1 / runs:
            return drop
    return 1.0
