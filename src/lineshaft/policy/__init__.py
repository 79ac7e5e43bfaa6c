"""Rules, modes and verdicts about calls. Pure: no clock, no I/O.

Above: the gate, which asks `judge` about every call. Below: values alone.
Not covered: what a process does once it runs, and command lines that hide what they run
(`sh -c`, `env`): a command pattern is a convenience, the jail is the boundary.
"""

from lineshaft.policy._builtin import BUILT_IN
from lineshaft.policy._idle import IdlePattern, idle_patterns
from lineshaft.policy._judge import (
    STRENGTH,
    along,
    asked_by_path,
    built_in_verdict,
    closed_by,
    is_answered,
    judge,
    likewise,
    sight,
)
from lineshaft.policy._modes import MODES, Mode
from lineshaft.policy._narrowing import narrowed, within_folders
from lineshaft.policy._parse import rule_sources
from lineshaft.policy._policy import Policy
from lineshaft.policy._reach import reach
from lineshaft.policy._rules import Patterns, Rule, several
from lineshaft.policy._subject import Subject

__all__ = [
    "BUILT_IN",
    "MODES",
    "STRENGTH",
    "IdlePattern",
    "Mode",
    "Patterns",
    "Policy",
    "Rule",
    "Subject",
    "along",
    "asked_by_path",
    "built_in_verdict",
    "closed_by",
    "idle_patterns",
    "is_answered",
    "judge",
    "likewise",
    "narrowed",
    "reach",
    "rule_sources",
    "several",
    "sight",
    "within_folders",
]
