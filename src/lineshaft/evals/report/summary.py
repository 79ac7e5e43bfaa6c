"""The numbers of a sweep, as table, JSON and page show them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from lineshaft.errors import ConfigError
from lineshaft.evals._results import CellResult, TaskKind
from lineshaft.evals.judging import Arm, GateRules, Judgement, arm_of, judge_arms
from lineshaft.evals.statistics import detectable_drop, wilson
from lineshaft.evals.sweep import SweepPlan, cells_of
from lineshaft.values import Struct


class VariantRow(Struct, frozen=True, kw_only=True):
    """One variant over all tasks, which weigh equally."""

    variant: str
    """Its name."""

    tasks: int
    """Tasks with a valid run."""

    runs: int
    """Valid ones."""

    passes: int
    """Runs that passed."""

    rate: float
    """The pass rate."""

    low: float
    """Of Wilson's interval of the rate, 95 %."""

    high: float
    """The upper limit of the same interval."""

    invalid: int
    """Runs that say nothing of the variant."""

    limits: int
    """Runs that used up a budget."""

    cost_per_solved: float | None
    """US dollars of all valid runs, failed ones too, for each that passed; None: no price, or none
    passed."""

    input_per_solved: float | None
    """Input tokens, in the same way."""

    output_per_solved: float | None
    """Output tokens, in the same way."""

    turns: float
    """Mean of valid runs, as what follows where it says nothing else."""

    calls: float
    """Calls of tools that the model wrote; a script is one."""

    script_calls: float
    """Calls that scripts made."""

    bytes_kept: float
    """Bytes of results that scripts read and the model did not."""

    seconds: float
    """Median of the wall time, the checker's left out."""

    seconds_slow: float
    """The 90th percentile of it."""

    model_seconds: float
    """Median."""

    detectable: float
    """The drop of the pass rate that so many runs would see with 80 %; 1: they would see none."""

    stuck: Mapping[str, int]
    """Why runs got stuck: how many, by code."""

    wasted_tokens: int
    """Of attempts that were killed, in all."""


class TaskRow(Struct, frozen=True, kw_only=True):
    """One task with one variant."""

    task: str
    kind: TaskKind
    variant: str
    runs: int
    passes: int
    low: float
    high: float
    input_tokens: float
    """Median, as what follows."""

    output_tokens: float
    turns: float
    seconds: float


class Loss(Struct, frozen=True, kw_only=True):
    """A task on which a variant does worse than the base, in what was seen."""

    task: str
    kind: TaskKind
    variant: str
    what: str
    """`passes`, `input tokens`, `output tokens` or `seconds`."""

    base: float
    own: float


class SweepSummary(Struct, frozen=True, kw_only=True):
    """A sweep in numbers."""

    scripted: bool
    """Whether scripted policies acted: then nothing is said of models."""

    model: str
    tokeniser: str
    priced: str
    """Date of the prices; empty where there are none."""

    planned: int
    """Cells of the plan."""

    finished: int
    base: str
    variants: tuple[VariantRow, ...]
    tasks: tuple[TaskRow, ...]
    losses: tuple[Loss, ...]
    judgements: tuple[Judgement, ...]
    """Of each other variant against the base; none where scripted policies acted."""

    cells: tuple[CellResult, ...]
    summaries: Mapping[str, str]
    """A line on each task."""


def summarised(
    plan: SweepPlan,
    results: Mapping[str, CellResult],
    *,
    base: str | None = None,
    rules: GateRules | None = None,
) -> SweepSummary:
    """Return the numbers of a sweep.

    Args:
        plan: The plan.
        results: What is finished, by key; cells that are not of the plan are left out.
        base: The variant that the others are compared with; the last one where left out.
        rules: Margins of the judgements.

    Raises:
        ConfigError: There is no such variant.
    """
    keys = [cell.key for cell in cells_of(plan)]
    cells = tuple(results[key] for key in keys if key in results)
    names = [variant.name for variant in plan.variants]
    base = base or names[-1]
    if base not in names:
        raise ConfigError(f"there is no variant {base!r}", hint=f"there are: {', '.join(names)}")
    arms = {name: arm_of(cells, name) for name in names}
    scripted = any(cell.scripted for cell in cells)
    return SweepSummary(
        scripted=scripted,
        model=", ".join(sorted({plan.model_of(variant) for variant in plan.variants})),
        tokeniser=_counters(cells) or plan.tokeniser,
        priced=plan.prices.date if plan.prices else "",
        planned=len(keys),
        finished=len(cells),
        base=base,
        variants=tuple(_variant_row(arm) for arm in arms.values()),
        tasks=tuple(
            _task_row(arm, task.name, task.kind) for task in plan.tasks for arm in arms.values()
        ),
        losses=tuple(
            loss
            for task in plan.tasks
            for name in names
            if name != base
            for loss in _losses(task.name, task.kind, arms[name], arms[base])
        ),
        judgements=tuple(
            judge_arms(
                arms[name],
                arms[base],
                rules=rules or GateRules(),
                missing=len(keys) - len(cells),
            )
            for name in names
            if name != base and not scripted and arms[name].cells and arms[base].cells
        ),
        cells=cells,
        summaries={task.name: task.summary for task in plan.tasks},
    )


def nothing_valid(summary: SweepSummary) -> str:
    """Return the message where all finished cells are invalid; empty where one is valid."""
    if not summary.cells or any(cell.outcome != "invalid" for cell in summary.cells):
        return ""
    [(reason, _)] = Counter(cell.reason for cell in summary.cells).most_common(1)
    count = len(summary.cells)
    cells = f"all {count} cells are" if count > 1 else "the only cell is"
    return f"nothing was measured: {cells} invalid, mostly for: {reason}"


def _counters(cells: Sequence[CellResult]) -> str:
    return ", ".join(sorted({cell.tokens_by for cell in cells if cell.tokens_by}))


def _variant_row(arm: Arm) -> VariantRow:
    valid, interval = arm.valid, arm.interval
    seconds = sorted(cell.wall_seconds for cell in valid)
    return VariantRow(
        variant=arm.variant,
        tasks=len(arm.by_task),
        runs=arm.runs,
        passes=arm.passes,
        rate=arm.rate,
        low=interval.low,
        high=interval.high,
        invalid=arm.invalid,
        limits=sum(cell.outcome == "limit" for cell in valid),
        cost_per_solved=_per_solved(arm, "cost"),
        input_per_solved=_per_solved(arm, "input_tokens"),
        output_per_solved=_per_solved(arm, "output_tokens"),
        turns=_mean([cell.turns for cell in valid]),
        calls=_mean([cell.calls for cell in valid]),
        script_calls=_mean([cell.script_calls for cell in valid]),
        bytes_kept=_mean([cell.bytes_kept for cell in valid]),
        seconds=median(seconds) if seconds else 0.0,
        seconds_slow=seconds[int(0.9 * (len(seconds) - 1))] if seconds else 0.0,
        model_seconds=median([cell.model_seconds for cell in valid]) if valid else 0.0,
        detectable=detectable_drop(arm.rate, arm.runs),
        stuck=dict(Counter(cell.stuck for cell in arm.cells if cell.stuck)),
        wasted_tokens=sum(cell.wasted_tokens for cell in arm.cells),
    )


def _per_solved(arm: Arm, unit: str) -> float | None:
    samples = arm.samples(unit)
    if not samples or not arm.rate:
        return None
    return fmean(fmean(s.cost for s in runs) for runs in samples.values()) / arm.rate


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def _task_row(arm: Arm, task: str, kind: TaskKind) -> TaskRow:
    cells = arm.by_task.get(task, ())
    passes = sum(cell.outcome == "pass" for cell in cells)
    interval = wilson(passes, len(cells))
    return TaskRow(
        task=task,
        kind=kind,
        variant=arm.variant,
        runs=len(cells),
        passes=passes,
        low=interval.low,
        high=interval.high,
        input_tokens=median(c.input_tokens for c in cells) if cells else 0.0,
        output_tokens=median(c.output_tokens for c in cells) if cells else 0.0,
        turns=median(c.turns for c in cells) if cells else 0.0,
        seconds=median(c.wall_seconds for c in cells) if cells else 0.0,
    )


def _losses(task: str, kind: TaskKind, own: Arm, base: Arm) -> list[Loss]:
    mine, theirs = _task_row(own, task, kind), _task_row(base, task, kind)
    if not mine.runs or not theirs.runs:
        return []
    rates = mine.passes / mine.runs, theirs.passes / theirs.runs
    pairs = {
        "passes": (-rates[0], -rates[1]),
        "input tokens": (mine.input_tokens, theirs.input_tokens),
        "output tokens": (mine.output_tokens, theirs.output_tokens),
        "seconds": (mine.seconds, theirs.seconds),
    }
    return [
        Loss(task=task, kind=kind, variant=own.variant, what=what, base=abs(b), own=abs(a))
        for what, (a, b) in pairs.items()
        if a > b
    ]
