"""The jail: one interface over the boundaries that can hold a full Python."""

from lineshaft.engines._jail._bubblewrap import BubblewrapJail
from lineshaft.engines._jail._choose import best_jail
from lineshaft.engines._jail._probe import probe
from lineshaft.engines._jail._sandlock import SandlockJail
from lineshaft.engines._jail._walls import (
    AttackResult,
    Boundary,
    Changes,
    FileChange,
    Jail,
    Jailed,
    Walls,
)

__all__ = [
    "AttackResult",
    "Boundary",
    "BubblewrapJail",
    "Changes",
    "FileChange",
    "Jail",
    "Jailed",
    "SandlockJail",
    "Walls",
    "best_jail",
    "probe",
]
