"""The gate's decision.

One test decides whether an arm is worse: the exact permutation of labels within tasks. Fisher's
test and z are shown beside it and decide nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from lineshaft.errors import ConfigError
from lineshaft.evals._results import TaskKind
from lineshaft.evals.judging.arms import Arm, kinds_of, strata_of
from lineshaft.evals.statistics import (
    CostRatio,
    cost_ratio,
    detectable_drop,
    difference_limit,
    fisher_exact,
    permutation_p,
    runs_needed,
    two_proportion_z,
)
from lineshaft.values import Struct

JudgementWord = Literal["better", "no worse", "worse", "not enough runs", "scripted"]
"""`scripted`: no model acted, so that nothing is said of models."""


class GateRules(Struct, frozen=True, kw_only=True):
    """The rules by which the gate decides.

    Raises:
        ConfigError: A number is out of its range.
    """

    margin: float = 0.10
    """A pass rate that is lower by less than this is no worse."""

    level: float = 0.05
    """Of the test for worse."""

    cheaper: float = 0.95
    """Better: the upper limit of the cost ratio is below this."""

    dearer: float = 1.05
    """Better by passes: the upper limit of the cost ratio is below this."""

    most_invalid: float = 0.05
    """A larger share of invalid runs in an arm leaves the question open."""

    inconclusive: Literal["pass", "fail"] = "fail"
    """What the exit code says where there are not enough runs."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no gate."""
        for name, low, high in (
            ("margin", 0.0, 1.0),
            ("level", 0.0, 0.5),
            ("most_invalid", -0.001, 1.0),
            ("cheaper", 0.0, 1.001),
            ("dearer", 0.999, 10.0),
        ):
            value: float = getattr(self, name)
            if not low < value < high:
                raise ConfigError(f"eval: {name} is {value:g}", hint=f"{low:g} to {high:g}")
        if self.inconclusive not in ("pass", "fail"):
            raise ConfigError(f"eval: inconclusive is {self.inconclusive!r}", hint="pass or fail")


class GroupJudgement(Struct, frozen=True, kw_only=True):
    """The judgement of the tasks of one kind."""

    kind: TaskKind
    word: JudgementWord
    p_worse: float
    """One-sided, mid-p, of the exact permutation within tasks."""

    level: float
    """What `p_worse` was compared with (Holm over the kinds)."""

    difference: float
    """Of the pass rates, tasks weighing equally."""

    lower: float
    """The lower one-sided 95 % limit of the difference."""

    cost: CostRatio | None
    """Cost per solved task; None: there is no price."""

    input_tokens: CostRatio
    """Input tokens per solved task."""

    output_tokens: CostRatio
    """Output tokens per solved task."""

    equal_rate: float | None
    """The ratio of costs (of all tokens where there is no price) over the tasks that both arms
    passed equally often; None where `no worse` does not hold, or there is no such task."""

    equal_tasks: tuple[str, ...]
    """The tasks that `equal_rate` covers."""

    fisher: float
    """Two-sided p of Fisher's test over all runs: shown, decides nothing."""

    z: float
    """Of the two proportions: shown, decides nothing."""

    needed: int | None
    """Runs an arm that would show `no worse` at the base's pass rate with 80 %; None: over
    1,000."""

    detectable: float
    """The drop of the pass rate that so many runs would see with 80 %; 1: they would see none."""


class Judgement(Struct, frozen=True, kw_only=True):
    """The judgement of the gate."""

    word: JudgementWord
    """The judgement in a word."""

    reasons: tuple[str, ...]
    """In the order in which they decided."""

    variant: str
    """The variant that is judged."""

    base: str
    """The variant that it is compared with."""

    groups: tuple[GroupJudgement, ...]
    """The judgement of each kind of task."""

    def exit_code(self, rules: GateRules) -> int:
        """Return 0 (better, no worse), 1 (worse) or 6 (not enough runs)."""
        if self.word == "worse":
            return 1
        if self.word == "not enough runs":
            return 0 if rules.inconclusive == "pass" else 6
        return 0


def judge_arms(own: Arm, base: Arm, *, rules: GateRules, missing: int = 0) -> Judgement:
    """Compare an arm with a base.

    Args:
        own: The arm that is judged.
        base: What it is compared with.
        rules: Margins.
        missing: Cells of the plan that are not finished: nothing is decided before the planned
            number, as every look at half of a sweep is a chance of a false alarm.

    Raises:
        ConfigError: An arm has no cells.
    """
    for arm in (own, base):
        if not arm.cells:
            raise ConfigError(f"the sweep has no cells of the variant {arm.variant!r}")
    kinds = kinds_of(own, base)
    chances: dict[TaskKind, float] = {
        kind: permutation_p(strata_of(own.only(kind), base.only(kind))) for kind in kinds
    }
    levels, worse = _holm(chances, rules.level)
    groups = tuple(
        _group(
            kind,
            own.only(kind),
            base.only(kind),
            chance=chances[kind],
            level=levels[kind],
            worse=kind in worse,
            rules=rules,
        )
        for kind in kinds
    )
    word, reasons = _whole(groups, list(_doubts(own, base, rules, missing)))
    return Judgement(
        word=word, reasons=tuple(reasons), variant=own.variant, base=base.variant, groups=groups
    )


def _whole(groups: Sequence[GroupJudgement], doubts: list[str]) -> tuple[JudgementWord, list[str]]:
    if doubts:
        return "not enough runs", doubts
    if lost := [each for each in groups if each.word == "worse"]:
        return "worse", [
            f"{each.kind}: passes less often by {-each.difference:.0%} (p {each.p_worse:.4f}, "
            f"level {each.level:.4f})"
            for each in lost
        ]
    if open_ := [each for each in groups if each.word == "not enough runs"]:
        return "not enough runs", [
            f"{each.kind}: the difference may be as low as {each.lower:+.0%}; "
            + (
                f"it takes about {each.needed} runs an arm to show no worse"
                if each.needed
                else "it takes more than 1,000 runs an arm to show no worse"
            )
            for each in open_
        ]
    if any(each.word == "better" for each in groups):
        return "better", [f"{each.kind}: {each.word}" for each in groups]
    return "no worse", [f"{each.kind}: {each.word}" for each in groups]


def _doubts(own: Arm, base: Arm, rules: GateRules, missing: int) -> Iterable[str]:
    if missing:
        yield f"{missing} cells of the plan are not finished: run the sweep to its end first"
    for arm in (own, base):
        if arm.invalid > rules.most_invalid * len(arm.cells):
            share = arm.invalid / len(arm.cells)
            yield f"{share:.0%} of the runs of {arm.variant} are invalid"
    sizes = own.invalid, len(own.cells), base.invalid, len(base.cells)
    if fisher_exact(*sizes) < 0.05:
        yield "invalid runs are uneven between the arms"


def _group(
    kind: TaskKind,
    own: Arm,
    base: Arm,
    *,
    chance: float,
    level: float,
    worse: bool,
    rules: GateRules,
) -> GroupJudgement:
    difference = own.rate - base.rate
    lower = difference_limit(own.rate, own.effective_runs, base.rate, base.effective_runs)
    costs = _ratio(own, base, "cost")
    tokens = _known(_ratio(own, base, "input_tokens")), _known(_ratio(own, base, "output_tokens"))
    word: JudgementWord = "not enough runs"
    holds = lower > -rules.margin and not worse
    if worse:
        word = "worse"
    elif holds:
        gain = permutation_p(strata_of(base, own)) < rules.level
        ratios = (costs,) if costs is not None else tokens
        bound = rules.dearer if gain else rules.cheaper
        word = "better" if _all_below(ratios, bound) else "no worse"
    equal = _equal(own, base) if holds else ()
    both = own.runs, base.runs
    return GroupJudgement(
        kind=kind,
        word=word,
        p_worse=chance,
        level=level,
        difference=difference,
        lower=lower,
        cost=costs,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        equal_rate=_equal_rate(own, base, equal),
        equal_tasks=equal,
        fisher=fisher_exact(own.passes, own.runs, base.passes, base.runs) if all(both) else 1.0,
        z=two_proportion_z(own.passes, own.runs, base.passes, base.runs) if all(both) else 0.0,
        needed=runs_needed(base.rate, margin=rules.margin),
        detectable=detectable_drop(base.rate, min(both)),
    )


def _all_below(ratios: Iterable[CostRatio], bound: float) -> bool:
    """Without a price, both kinds of tokens have to be below: then any price gives the same."""
    return all(each.upper is not None and each.upper < bound for each in ratios)


def _ratio(own: Arm, base: Arm, unit: str) -> CostRatio | None:
    mine, theirs = own.samples(unit), base.samples(unit)
    return None if mine is None or theirs is None else cost_ratio(mine, theirs)


def _known(ratio: CostRatio | None) -> CostRatio:
    return ratio or CostRatio(ratio=None, interval=None, upper=None, kind="none")


def _equal(own: Arm, base: Arm) -> tuple[str, ...]:
    return tuple(
        task
        for task, stratum in zip(
            sorted(own.by_task.keys() | base.by_task.keys()), strata_of(own, base), strict=True
        )
        if stratum.passes
        and stratum.base_runs
        and stratum.passes * stratum.base_runs == stratum.base_passes * stratum.runs
    )


def _equal_rate(own: Arm, base: Arm, tasks: Sequence[str]) -> float | None:
    if not tasks:
        return None
    mine, theirs = (
        sum(_spent(cell) / len(arm.by_task[task]) for task in tasks for cell in arm.by_task[task])
        for arm in (own, base)
    )
    return mine / theirs if theirs else None


def _spent(cell: object) -> float:
    cost: float | None = getattr(cell, "cost", None)
    if cost is not None:
        return cost
    return float(getattr(cell, "input_tokens", 0) + getattr(cell, "output_tokens", 0))


def _holm(
    chances: dict[TaskKind, float], level: float
) -> tuple[dict[TaskKind, float], frozenset[TaskKind]]:
    """Return the level of each kind, and the kinds that are worse, by Holm's steps."""
    levels: dict[TaskKind, float] = {}
    worse: set[TaskKind] = set()
    going = True
    for place, kind in enumerate(sorted(chances, key=lambda each: chances[each])):
        levels[kind] = level / (len(chances) - place)
        going = going and chances[kind] < levels[kind]
        if going:
            worse.add(kind)
    return levels, frozenset(worse)
