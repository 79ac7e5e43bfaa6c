"""Evidence: does a script help on these tasks? Runs, statistics, a gate and a report."""

from lineshaft.evals._gating import FEWEST_BASELINE, judged_sweep
from lineshaft.evals._results import CellOutcome, CellResult, TaskKind
from lineshaft.evals._variants import Variant, variants_of
from lineshaft.evals.judging import Arm, GateRules, GroupJudgement, Judgement, arm_of, judge_arms
from lineshaft.evals.report import (
    SweepSummary,
    judgement_lines,
    nothing_valid,
    page_of,
    summarised,
    table_lines,
)
from lineshaft.evals.solving import SCRIPTED, Plan, Tokeniser, offline_tokeniser
from lineshaft.evals.sweep import (
    PriceTable,
    SweepEnd,
    SweepFolder,
    SweepPlan,
    cells_of,
    planned,
    read_cells,
    run_sweep,
)
from lineshaft.evals.tasks import EvalTask, TaskLimits, World, found_tasks, read_task

__all__ = [
    "FEWEST_BASELINE",
    "SCRIPTED",
    "Arm",
    "CellOutcome",
    "CellResult",
    "EvalTask",
    "GateRules",
    "GroupJudgement",
    "Judgement",
    "Plan",
    "PriceTable",
    "SweepEnd",
    "SweepFolder",
    "SweepPlan",
    "SweepSummary",
    "TaskKind",
    "TaskLimits",
    "Tokeniser",
    "Variant",
    "World",
    "arm_of",
    "cells_of",
    "found_tasks",
    "judge_arms",
    "judged_sweep",
    "judgement_lines",
    "nothing_valid",
    "offline_tokeniser",
    "page_of",
    "planned",
    "read_cells",
    "read_task",
    "run_sweep",
    "summarised",
    "table_lines",
    "variants_of",
]
