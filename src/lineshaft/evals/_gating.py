"""The gate over a sweep: two variants of it, or one of it and a file of cells."""

from pathlib import Path

from msgspec.structs import replace

from lineshaft.errors import ConfigError
from lineshaft.evals.judging import Arm, GateRules, Judgement, arm_of, judge_arms
from lineshaft.evals.sweep import SweepFolder, cells_of, read_cells

FEWEST_BASELINE = 100
"""Valid runs that a baseline file needs at least: one that is judged again and again must not be
a matter of luck itself."""


def judged_sweep(
    folder: SweepFolder,
    *,
    variant: str | None = None,
    base: str | None = None,
    baseline: Path | None = None,
    rules: GateRules | None = None,
    scripted: bool = False,
) -> Judgement:
    """Judge a variant of a sweep.

    Args:
        folder: The sweep.
        variant: The variant that is judged; the first one where left out.
        base: The variant that it is compared with; the last one where left out.
        baseline: A log of another sweep, instead of a variant of this one.
        rules: Margins.
        scripted: Judge scripted policies all the same: for trying the gate out.

    Raises:
        ConfigError: There is no such variant, the arms are unlike, the baseline has too few runs,
            or scripted policies acted.
    """
    plan, results = folder.plan(), folder.results()
    names = [each.name for each in plan.variants]
    variant = variant or names[0]
    keys = [cell.key for cell in cells_of(plan)]
    cells = [results[key] for key in keys if key in results]
    own = arm_of(cells, variant)
    if baseline is None:
        base = base or names[-1]
        other = arm_of(cells, base)
    else:
        found = read_cells(baseline)
        base = base or variant
        other = arm_of(found, base)
        if not other.cells:
            there = ", ".join(sorted({cell.variant for cell in found}))
            raise ConfigError(f"the baseline has no variant {base!r}", hint=f"it has: {there}")
        if other.runs < FEWEST_BASELINE:
            raise ConfigError(
                f"the baseline has {other.runs} valid runs of {base!r}",
                hint=f"{FEWEST_BASELINE} are needed: run its sweep with a larger -n",
            )
        other = replace(other, variant=f"{base} (baseline)")
    if baseline is None and variant == base:
        raise ConfigError(f"{variant!r} is compared with itself", hint="name another one: --base")
    for name in (variant, *([] if baseline else [base])):
        if name not in names:
            raise ConfigError(
                f"there is no variant {name!r}", hint=f"there are: {', '.join(names)}"
            )
    _refuse_unlike(own, other)
    if not scripted and any(cell.scripted for cell in (*own.cells, *other.cells)):
        raise ConfigError(
            "scripted policies acted, and no model: there is nothing to judge",
            hint="name a model, or try the gate out by --scripted",
        )
    missing = sum(
        cell.key not in results
        for cell in cells_of(plan)
        if cell.variant.name in (variant, base if baseline is None else variant)
    )
    return judge_arms(own, other, rules=rules or GateRules(), missing=missing)


def _refuse_unlike(own: Arm, base: Arm) -> None:
    """Refuse arms that did not do the same.

    Raises:
        ConfigError: Tasks or counters of tokens differ, or a script stands for a model.
    """
    mine, theirs = ({cell.task: cell.task_digest for cell in arm.cells} for arm in (own, base))
    if not mine or not theirs:
        return
    if alone := sorted(mine.keys() ^ theirs.keys()):
        raise ConfigError(f"the task {alone[0]!r} is in one arm alone")
    if changed := sorted(task for task in mine if mine[task] != theirs[task]):
        raise ConfigError(
            f"the task {changed[0]!r} is not the same in both arms",
            hint="run both arms with the task as it is now",
        )
    if {cell.scripted for cell in own.cells} != {cell.scripted for cell in base.cells}:
        raise ConfigError("in one arm a model acted, in the other scripted policies")
    counters = [{cell.tokens_by for cell in arm.valid} for arm in (own, base)]
    if counters[0] and counters[1] and counters[0] != counters[1]:
        named = " and ".join(", ".join(sorted(each)) for each in counters)
        raise ConfigError(f"tokens were counted differently: by {named}")
