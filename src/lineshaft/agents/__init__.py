"""Microagents: a model and a few tools that return one typed result."""

from lineshaft.agents._budget import AgentUsage, Budget
from lineshaft.agents._exit import ExitTool
from lineshaft.agents._loop import AgentEnd, AgentEvent, AgentLoop, Seams
from lineshaft.agents._microagent import AgentResult, Microagent, refuse_without_model
from lineshaft.agents._template import SAFETY, PromptTemplate, fenced
from lineshaft.agents._verified import VerifiedMicroagent

__all__ = [
    "SAFETY",
    "AgentEnd",
    "AgentEvent",
    "AgentLoop",
    "AgentResult",
    "AgentUsage",
    "Budget",
    "ExitTool",
    "Microagent",
    "PromptTemplate",
    "Seams",
    "VerifiedMicroagent",
    "fenced",
    "refuse_without_model",
]
