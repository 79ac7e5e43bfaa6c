"""Evidence: does a script help on these tasks? Runs, statistics, a gate and a report."""

from lineshaft.evals._results import CellOutcome, CellResult, TaskKind
from lineshaft.evals.judging import Arm, GateRules, GroupJudgement, Judgement, arm_of, judge_arms

__all__ = [
    "Arm",
    "CellOutcome",
    "CellResult",
    "GateRules",
    "GroupJudgement",
    "Judgement",
    "TaskKind",
    "arm_of",
    "judge_arms",
]
