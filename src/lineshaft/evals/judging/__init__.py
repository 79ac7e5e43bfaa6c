"""The judgement of one variant against another: better, no worse, or worse. Pure."""

from lineshaft.evals.judging.arms import Arm, arm_of, kinds_of, strata_of
from lineshaft.evals.judging.decision import (
    GateRules,
    GroupJudgement,
    Judgement,
    JudgementWord,
    judge_arms,
)

__all__ = [
    "Arm",
    "GateRules",
    "GroupJudgement",
    "Judgement",
    "JudgementWord",
    "arm_of",
    "judge_arms",
    "kinds_of",
    "strata_of",
]
