"""Agents that solve tasks: any model by name in the loop of a microagent, and scripted policies."""

from lineshaft.evals.solving.agent import Attempt, Solved, Spending, Workplace, solve
from lineshaft.evals.solving.planned import SCRIPTED, Plan, PlannedModel, SlipRule
from lineshaft.evals.solving.tokens import Tokeniser, offline_tokeniser

__all__ = [
    "SCRIPTED",
    "Attempt",
    "Plan",
    "PlannedModel",
    "SlipRule",
    "Solved",
    "Spending",
    "Tokeniser",
    "Workplace",
    "offline_tokeniser",
    "solve",
]
