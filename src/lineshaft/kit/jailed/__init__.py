"""One program in a jail, from its start until its changes are changes of the run.

Above: `python_run`, and programs in a view of their own. Below: the jails of the sandbox.
"""

from lineshaft.kit.jailed.changes import land
from lineshaft.kit.jailed.closed_paths import Closed, canonical, closed
from lineshaft.kit.jailed.process import (
    STDERR_BYTES,
    STDOUT_BYTES,
    JailedProgram,
    ProgramOutcome,
    ProgramTime,
    jailed_run,
    to_the_end,
    until_cancelled,
)

__all__ = [
    "STDERR_BYTES",
    "STDOUT_BYTES",
    "Closed",
    "JailedProgram",
    "ProgramOutcome",
    "ProgramTime",
    "canonical",
    "closed",
    "jailed_run",
    "land",
    "to_the_end",
    "until_cancelled",
]
