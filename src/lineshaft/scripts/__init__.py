"""A script from text to result: prepare, check, choose the engine, run, settle.

Above: sessions. Below: the gate and the engines.
"""

from lineshaft.scripts._check import check
from lineshaft.scripts._control import Control
from lineshaft.scripts._engines import ENGINES, Engines
from lineshaft.scripts._hints import hint_for
from lineshaft.scripts._job import RUN_SCRIPT, CheckLevel, Job, new_run_id
from lineshaft.scripts._prepare import Prepared, prepare
from lineshaft.scripts._resumer import Reply, Resumer
from lineshaft.scripts._runner import Ground, Runner, Shelf

__all__ = [
    "ENGINES",
    "RUN_SCRIPT",
    "CheckLevel",
    "Control",
    "Engines",
    "Ground",
    "Job",
    "Prepared",
    "Reply",
    "Resumer",
    "Runner",
    "Shelf",
    "check",
    "hint_for",
    "new_run_id",
    "prepare",
]
