"""Microagents: what a model is told, and the loop that works until it has a result.

An agent as a tool of a session, and its changes as a layer of their own, are to come.
"""

from lineshaft.agents._budget import AgentUsage, Budget
from lineshaft.agents._exit import ExitTool
from lineshaft.agents._loop import AgentEnd, AgentEvent, AgentLoop, Seams
from lineshaft.agents._template import SAFETY, PromptTemplate, fenced

__all__ = [
    "SAFETY",
    "AgentEnd",
    "AgentEvent",
    "AgentLoop",
    "AgentUsage",
    "Budget",
    "ExitTool",
    "PromptTemplate",
    "Seams",
    "fenced",
]
