"""Sweeps: a plan first, then one synced line for each finished cell."""

from lineshaft.evals.sweep.carrying import Progress, SweepEnd, run_sweep
from lineshaft.evals.sweep.folder import SweepFolder, read_cells
from lineshaft.evals.sweep.planning import (
    PlannedCell,
    PriceTable,
    SweepPlan,
    TaskFacts,
    cells_of,
    planned,
)

__all__ = [
    "PlannedCell",
    "PriceTable",
    "Progress",
    "SweepEnd",
    "SweepFolder",
    "SweepPlan",
    "TaskFacts",
    "cells_of",
    "planned",
    "read_cells",
    "run_sweep",
]
