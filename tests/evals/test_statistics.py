"""The statistics give what others give, and what the worked example says."""

import importlib
import math
import random
from collections.abc import Sequence
from itertools import permutations
from statistics import NormalDist, fmean
from typing import Any

import pytest

from lineshaft.evals.statistics import (
    CostSample,
    Stratum,
    cost_ratio,
    detectable_drop,
    difference_limit,
    fisher_exact,
    normal_quantile,
    permutation_p,
    runs_needed,
    shown_no_worse,
    student_quantile,
    two_proportion_z,
    wilson,
)

TABLES = [
    (19, 20, 12, 20),
    (0, 5, 5, 5),
    (3, 7, 4, 9),
    (20, 20, 20, 20),
    (1, 30, 0, 2),
    (50, 80, 60, 90),
]


@pytest.fixture(scope="module")
def scipy() -> Any:
    """Return scipy's statistics; what it says of its own types is not of use here."""
    return importlib.import_module("scipy.stats")


def test_the_worked_example() -> None:
    assert round(fisher_exact(19, 20, 12, 20), 4) == 0.0197
    assert round(two_proportion_z(19, 20, 12, 20), 3) == 2.650
    high, low = wilson(19, 20), wilson(12, 20)
    assert (round(high.low, 3), round(high.high, 3)) == (0.764, 0.991)
    assert (round(low.low, 3), round(low.high, 3)) == (0.387, 0.781)
    two_sided = math.erfc(two_proportion_z(19, 20, 12, 20) / math.sqrt(2))
    assert round(two_sided, 3) == 0.008


@pytest.mark.parametrize("table", TABLES)
def test_fisher_is_that_of_scipy(scipy: Any, table: tuple[int, int, int, int]) -> None:
    a, n, b, m = table
    theirs = scipy.fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert fisher_exact(*table) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_wilson_is_that_of_scipy(scipy: Any, table: tuple[int, int, int, int]) -> None:
    a, n, *_ = table
    theirs = scipy.binomtest(a, n).proportion_ci(method="wilson")
    assert (wilson(a, n).low, wilson(a, n).high) == pytest.approx(
        (theirs.low, theirs.high), abs=1e-9
    )


@pytest.mark.parametrize("freedom", [1, 2, 3.7, 9, 30, 400])
@pytest.mark.parametrize("share", [0.6, 0.95, 0.975, 0.999])
def test_quantiles_are_those_of_scipy(scipy: Any, share: float, freedom: float) -> None:
    assert student_quantile(share, freedom) == pytest.approx(scipy.t.ppf(share, freedom), rel=1e-8)
    assert normal_quantile(share) == pytest.approx(scipy.norm.ppf(share), rel=1e-9)


def test_of_one_task_the_permutation_is_the_hypergeometric_mid_p(scipy: Any) -> None:
    for a, n, b, m in TABLES:
        hyper = scipy.hypergeom(n + m, a + b, n)
        mid = hyper.cdf(a) - 0.5 * hyper.pmf(a)
        assert permutation_p([Stratum(a, n, b, m)]) == pytest.approx(mid, rel=1e-9)


def _by_counting(strata: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    """Return the mid-p by writing down every relabelling of every task."""
    sums = [0.0]
    for own, base in strata:
        together = [*own, *base]
        here = [
            fmean(order[: len(own)]) - fmean(order[len(own) :]) for order in permutations(together)
        ]
        sums = [before + each for before in sums for each in here]
    seen = sum(fmean(own) - fmean(base) for own, base in strata)
    below = sum(each < seen - 1e-9 for each in sums)
    same = sum(abs(each - seen) <= 1e-9 for each in sums)
    return (below + 0.5 * same) / len(sums)


def test_the_permutation_counts_every_relabelling() -> None:
    strata = [([1, 0, 0], [1, 1]), ([0, 0], [1, 1]), ([1], [0, 1])]
    counted = permutation_p([Stratum(sum(a), len(a), sum(b), len(b)) for a, b in strata])
    assert counted == pytest.approx(_by_counting(strata), rel=1e-9)


def test_the_permutation_of_many_unequal_tasks_comes_to_an_end() -> None:
    """Invalid runs here and there leave each task with numbers of its own."""
    strata = [Stratum(9 + n % 5, 20 - n % 4, 11 + n % 3, 20 - n % 5) for n in range(15)]
    shifted = [Stratum(s.base_passes, s.base_runs, s.passes, s.runs) for s in strata]
    worse = permutation_p(strata)
    mean = sum(s.passes / s.runs - s.base_passes / s.base_runs for s in strata)
    spread = math.sqrt(sum(map(_variance, strata)))
    assert worse == pytest.approx(NormalDist().cdf(mean / spread), abs=0.003)
    assert worse + permutation_p(shifted) == pytest.approx(1, abs=0.002)


def _variance(stratum: Stratum) -> float:
    """Return the variance of the difference of rates, by that of the hypergeometric."""
    total, passes = stratum.runs + stratum.base_runs, stratum.passes + stratum.base_passes
    own = stratum.runs * passes / total * (1 - passes / total) * stratum.base_runs / (total - 1)
    return own * (1 / stratum.runs + 1 / stratum.base_runs) ** 2


def test_without_any_variance_the_permutation_is_a_half() -> None:
    assert permutation_p([]) == 0.5
    assert permutation_p([Stratum(5, 5, 5, 5), Stratum(0, 0, 3, 5)]) == 0.5


def test_the_limit_of_a_difference_covers_it() -> None:
    """Of 4,000 sweeps at a true difference of 0.1 about 5 % have a limit above it."""
    draw = random.Random(7)  # noqa: S311  a simulation, the same each time
    above = 0
    for _ in range(4_000):
        own = sum(draw.random() < 0.9 for _ in range(40))
        base = sum(draw.random() < 0.8 for _ in range(40))
        above += difference_limit(own / 40, 40, base / 40, 40) > 0.1
    assert above / 4_000 < 0.06


def test_so_many_runs_are_needed() -> None:
    needed = [runs_needed(rate, margin=0.1) for rate in (0.95, 0.9, 0.8)]
    assert needed == [80, 120, 200]
    assert all(0.19 < shown_no_worse(rate, 20, 0.1) < 0.27 for rate in (0.95, 0.9, 0.8))
    assert runs_needed(0.5, margin=0.01) is None


def test_what_so_many_runs_detect() -> None:
    assert detectable_drop(0.9, 20) > detectable_drop(0.9, 200) > 0.05
    assert detectable_drop(0.9, 0) == 1.0


def test_runs_that_are_too_few_to_see_a_rate_fall_to_nothing_see_no_drop() -> None:
    assert [detectable_drop(rate, 5) for rate in (0.0, 0.1, 0.3)] == [1.0, 1.0, 1.0]
    assert detectable_drop(0.5, 200) == pytest.approx(0.13)


def _samples(costs: Sequence[float], passed: Sequence[bool]) -> list[CostSample]:
    return [CostSample(cost, well) for cost, well in zip(costs, passed, strict=True)]


def test_what_failures_burn_is_paid_by_those_that_pass() -> None:
    base = {"a": _samples([1, 1, 1, 1], [True] * 4)}
    own = {"a": _samples([1, 1, 2.5, 2.5], [True, True, False, False])}
    assert cost_ratio(own, base).ratio == pytest.approx(3.5)
    assert cost_ratio(own, base).kind == "these tasks only"


def test_a_constant_difference_is_deterministic() -> None:
    base = {name: _samples([2, 2], [True, True]) for name in "ab"}
    own = {name: _samples([1, 1], [True, True]) for name in "ab"}
    found = cost_ratio(own, base)
    assert (found.ratio, found.kind, found.upper) == (0.5, "deterministic", 0.5)


def test_over_eight_tasks_limits_are_students(scipy: Any) -> None:
    draw = random.Random(3)  # noqa: S311  a simulation, the same each time
    factors = [draw.uniform(0.5, 1.2) for _ in range(9)]
    base = {f"t{i}": _samples([1.0, 1.0], [True, True]) for i in range(9)}
    own = {f"t{i}": _samples([f, f], [True, True]) for i, f in enumerate(factors)}
    found = cost_ratio(own, base)
    logs = [math.log(f) for f in factors]
    theirs = scipy.t.interval(0.95, 8, loc=fmean(logs), scale=scipy.sem(logs))
    assert found.kind == "tasks"
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple(math.exp(each) for each in theirs)
    )


@pytest.mark.long
def test_limits_over_runs_cover_the_true_ratio() -> None:
    draw = random.Random(11)  # noqa: S311  a simulation, the same each time
    covered = 0
    for _ in range(400):
        base = {
            t: _samples([draw.lognormvariate(0, 0.4) for _ in range(10)], [True] * 10)
            for t in "abc"
        }
        own = {
            t: _samples([0.5 * draw.lognormvariate(0, 0.4) for _ in range(10)], [True] * 10)
            for t in "abc"
        }
        interval = cost_ratio(own, base).interval
        assert interval is not None
        covered += interval.low <= 0.5 <= interval.high
    assert covered / 400 > 0.92


@pytest.mark.parametrize(
    "own", [[], [CostSample(1.0, passed=False)], [CostSample(0.0, passed=True)]]
)
def test_without_a_pass_or_a_cost_there_is_no_ratio(own: list[CostSample]) -> None:
    found = cost_ratio({"a": own}, {"a": [CostSample(1.0, passed=True)]})
    assert (found.ratio, found.interval, found.kind) == (None, None, "none")


def test_of_one_run_there_are_no_limits() -> None:
    one = {"a": [CostSample(1.0, passed=True)]}
    assert cost_ratio(one, one).kind == "none"
    assert cost_ratio(one, one).ratio == 1.0
