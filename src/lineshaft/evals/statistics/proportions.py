"""Pass rates: intervals, and two of them compared."""

import math

from lineshaft.evals.statistics.distributions import normal_quantile
from lineshaft.values import Struct

_SAME = 1e-7
"""Probabilities that differ by less are the same one, computed in another order."""

_TWO_SIDED = 2 * 0.95 - 1  # a one-sided limit is an end of a wider two-sided interval


class Interval(Struct, frozen=True):
    """A lower and an upper limit."""

    low: float
    high: float


def wilson(passes: float, runs: float, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a pass rate, two-sided.

    Args:
        passes: How many runs passed; it need not be whole where tasks are weighted.
        runs: How many there were; of none the interval is 0 to 1.
        confidence: The share of such intervals that hold the true rate.
    """
    if runs <= 0:
        return Interval(0.0, 1.0)
    z = normal_quantile((1 + confidence) / 2)
    rate, square = passes / runs, z * z
    middle = (rate + square / (2 * runs)) / (1 + square / runs)
    half = z * math.sqrt(rate * (1 - rate) / runs + square / (4 * runs * runs))
    half /= 1 + square / runs
    return Interval(max(middle - half, 0.0), min(middle + half, 1.0))


def two_proportion_z(passes: int, runs: int, others: int, other_runs: int) -> float:
    """Return z of two pass rates with a pooled variance; 0 where there is no variance."""
    pooled = (passes + others) / (runs + other_runs)
    variance = pooled * (1 - pooled) * (1 / runs + 1 / other_runs)
    if variance <= 0:
        return 0.0
    return (passes / runs - others / other_runs) / math.sqrt(variance)


def fisher_exact(passes: int, runs: int, others: int, other_runs: int) -> float:
    """Return the two-sided p of Fisher's exact test: all tables as unlikely as this one."""
    total = passes + others
    whole = math.comb(runs + other_runs, total)
    tables = range(max(0, total - other_runs), min(total, runs) + 1)
    chances = {x: math.comb(runs, x) * math.comb(other_runs, total - x) / whole for x in tables}
    most = chances[passes] * (1 + _SAME)
    return min(sum(chance for chance in chances.values() if chance <= most), 1.0)


def difference_limit(rate: float, runs: float, other_rate: float, other_runs: float) -> float:
    """Return the lower one-sided limit of `rate - other_rate` (Newcombe's hybrid score limit).

    Of such limits 95 % lie below the true difference.

    Args:
        rate: Pass rate of the first arm.
        runs: Its runs; where tasks are weighted, their effective number.
        other_rate: Pass rate of the second arm.
        other_runs: Its runs.
    """
    below = rate - wilson(rate * runs, runs, confidence=_TWO_SIDED).low
    above = wilson(other_rate * other_runs, other_runs, confidence=_TWO_SIDED).high - other_rate
    return rate - other_rate - math.hypot(below, above)
