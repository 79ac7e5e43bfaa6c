"""The jail: one interface over the boundaries that can hold a full Python."""

from lineshaft.sandbox.jail._bubblewrap import BubblewrapJail
from lineshaft.sandbox.jail._choose import best_jail
from lineshaft.sandbox.jail._differences import (
    PathDifference,
    PathState,
    changes_of_copy,
    settle,
    states,
)
from lineshaft.sandbox.jail._laying import is_gone, lay_over_copy, visible
from lineshaft.sandbox.jail._probe import probe
from lineshaft.sandbox.jail._sandlock import SandlockJail
from lineshaft.sandbox.jail._scratch import Scratch, make_scratch
from lineshaft.sandbox.jail._spec import (
    AttackResult,
    Boundary,
    Changes,
    Jail,
    Jailed,
    JailedChange,
    SandboxSpec,
)

__all__ = [
    "AttackResult",
    "Boundary",
    "BubblewrapJail",
    "Changes",
    "Jail",
    "Jailed",
    "JailedChange",
    "PathDifference",
    "PathState",
    "SandboxSpec",
    "SandlockJail",
    "Scratch",
    "best_jail",
    "changes_of_copy",
    "is_gone",
    "lay_over_copy",
    "make_scratch",
    "probe",
    "settle",
    "states",
    "visible",
]
