"""Cost per solved task of two arms, as a ratio with limits."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev, variance
from typing import Literal

from lineshaft.evals.statistics.distributions import student_quantile
from lineshaft.evals.statistics.proportions import Interval
from lineshaft.values import Struct

FEWEST_TASKS = 8
"""From so many tasks on the interval is over tasks, and speaks of tasks like these."""

_NOTHING = 1e-12

RatioKind = Literal["tasks", "these tasks only", "deterministic", "none"]


class CostSample(Struct, frozen=True):
    """One valid run."""

    cost: float
    """Dollars, or tokens: one unit for all."""

    passed: bool


class CostRatio(Struct, frozen=True, kw_only=True):
    """Cost per solved task of one arm, divided by that of the other."""

    ratio: float | None
    """Over all valid runs; None: an arm solved nothing, or nothing was spent."""

    interval: Interval | None
    """95 %, two-sided; None where `kind` is `none`."""

    upper: float | None
    """The upper one-sided limit of 95 %, which the gate looks at."""

    kind: RatioKind
    """What the limits speak of: tasks like these (by t on the logarithms of the ratio of each
    task), these tasks only (by t over their runs), a difference without any variance, or nothing,
    as there are too few runs."""


def cost_ratio(
    own: Mapping[str, Sequence[CostSample]], base: Mapping[str, Sequence[CostSample]]
) -> CostRatio:
    """Return the ratio of the cost per solved task.

    Args:
        own: Valid runs of the first arm, by task.
        base: Those of the second; tasks that are in one arm alone are left out.
    """
    tasks = sorted(task for task in own.keys() & base.keys() if own[task] and base[task])
    mine, theirs = ({task: arm[task] for task in tasks} for arm in (own, base))
    ratio = _ratio(_per_solved(mine), _per_solved(theirs))
    if ratio is None:
        return CostRatio(ratio=None, interval=None, upper=None, kind="none")
    if len(tasks) >= FEWEST_TASKS:
        return _over_tasks(ratio, mine, theirs)
    return _over_runs(ratio, mine, theirs)


def _over_tasks(
    ratio: float, own: Mapping[str, Sequence[CostSample]], base: Mapping[str, Sequence[CostSample]]
) -> CostRatio:
    found = [_task_ratio(own[task], base[task]) for task in own]
    logs = [math.log(each) for each in found if each is not None]
    if len(logs) < FEWEST_TASKS:
        return CostRatio(ratio=ratio, interval=None, upper=None, kind="none")
    middle, error = fmean(logs), stdev(logs) / math.sqrt(len(logs))
    return _limits(ratio, middle, error, len(logs) - 1, "tasks")


def _task_ratio(own: Sequence[CostSample], base: Sequence[CostSample]) -> float | None:
    """Return the ratio of one task; half a pass is added to both where an arm has none."""
    passes = sum(s.passed for s in own), sum(s.passed for s in base)
    more = 0.0 if all(passes) else 0.5
    mine, theirs = fmean(s.cost for s in own), fmean(s.cost for s in base)
    if mine <= 0 or theirs <= 0:
        return None
    solved = (passes[0] + more) / (len(own) + 2 * more), (passes[1] + more) / (len(base) + 2 * more)
    return (mine / solved[0]) / (theirs / solved[1])


def _over_runs(
    ratio: float, own: Mapping[str, Sequence[CostSample]], base: Mapping[str, Sequence[CostSample]]
) -> CostRatio:
    parts = [part for arm in (own, base) if (part := _parts(arm)) is not None]
    if len(parts) < 2:
        return CostRatio(ratio=ratio, interval=None, upper=None, kind="none")
    pieces = [piece for part in parts for piece in part]
    total = sum(square for square, _ in pieces)
    shares = sum(square * square / freedom for square, freedom in pieces)
    freedom = total * total / shares if shares > 0 else 1.0
    return _limits(ratio, math.log(ratio), math.sqrt(total), freedom, "these tasks only")


def _parts(arm: Mapping[str, Sequence[CostSample]]) -> list[tuple[float, int]] | None:
    """Return the variance of the logarithm that each task adds, with its degrees of freedom.

    By the usual linearisation of a ratio of means: of cost and of passes of the same runs.
    """
    cost = fmean(fmean(s.cost for s in runs) for runs in arm.values())
    passes = fmean(fmean(s.passed for s in runs) for runs in arm.values())
    if any(len(runs) < 2 for runs in arm.values()):
        return None
    return [
        (
            variance([s.cost / cost - s.passed / passes for s in runs]) / len(runs) / len(arm) ** 2,
            len(runs) - 1,
        )
        for runs in arm.values()
    ]


def _limits(
    ratio: float, middle: float, error: float, freedom: float, kind: RatioKind
) -> CostRatio:
    if error < _NOTHING:
        exact = math.exp(middle)
        return CostRatio(
            ratio=ratio, interval=Interval(exact, exact), upper=exact, kind="deterministic"
        )
    both, one = (student_quantile(share, freedom) * error for share in (0.975, 0.95))
    return CostRatio(
        ratio=ratio,
        interval=Interval(_exp(middle - both), _exp(middle + both)),
        upper=_exp(middle + one),
        kind=kind,
    )


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def _per_solved(arm: Mapping[str, Sequence[CostSample]]) -> float | None:
    """Return the cost per solved task, tasks weighing equally."""
    if not arm:
        return None
    cost = fmean(fmean(s.cost for s in runs) for runs in arm.values())
    passes = fmean(fmean(s.passed for s in runs) for runs in arm.values())
    return cost / passes if passes else None


def _ratio(own: float | None, base: float | None) -> float | None:
    return own / base if own and base else None
