"""Statistics of pass rates and costs: pure functions, no clock, no I/O, no library."""

from lineshaft.evals.statistics.distributions import normal_quantile, student_quantile
from lineshaft.evals.statistics.permutation import Stratum, permutation_p
from lineshaft.evals.statistics.power import detectable_drop, runs_needed, shown_no_worse
from lineshaft.evals.statistics.proportions import (
    Interval,
    difference_limit,
    fisher_exact,
    two_proportion_z,
    wilson,
)
from lineshaft.evals.statistics.ratios import CostRatio, CostSample, cost_ratio

__all__ = [
    "CostRatio",
    "CostSample",
    "Interval",
    "Stratum",
    "cost_ratio",
    "detectable_drop",
    "difference_limit",
    "fisher_exact",
    "normal_quantile",
    "permutation_p",
    "runs_needed",
    "shown_no_worse",
    "student_quantile",
    "two_proportion_z",
    "wilson",
]
