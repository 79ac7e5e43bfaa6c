"""A script from text to result: prepare, check, choose the engine, run, settle.

Above: sessions. Below: the gate and the engines.
"""

from lineshaft.scripts._catalogue import program_names
from lineshaft.scripts._control import Control
from lineshaft.scripts._engines import Engines
from lineshaft.scripts._job import RUN_SCRIPT, CheckLevel, Job, new_run_id
from lineshaft.scripts._resumer import Reply, Resumer
from lineshaft.scripts._runner import RunEnvironment, Runner
from lineshaft.scripts.reading import Prepared, Reading, hint_for

__all__ = [
    "RUN_SCRIPT",
    "CheckLevel",
    "Control",
    "Engines",
    "Job",
    "Prepared",
    "Reading",
    "Reply",
    "Resumer",
    "RunEnvironment",
    "Runner",
    "hint_for",
    "new_run_id",
    "program_names",
]
