"""Programs as values: what to start, with the defaults of its kind, and the run of one to its end.

Above: packs, and host code. Below: `start`, which watches and ends process trees.
"""

from lineshaft.processes.programs.command import CommandOptions, ProgramOptions
from lineshaft.processes.programs.maven import MavenOptions
from lineshaft.processes.programs.npm import NpmExecOptions, NpxOptions
from lineshaft.processes.programs.powershell import PowerShellOptions
from lineshaft.processes.programs.python import PythonCommandOptions
from lineshaft.processes.programs.result import KeptLines, ProgramResult, tagged
from lineshaft.processes.programs.run import run_program

__all__ = [
    "CommandOptions",
    "KeptLines",
    "MavenOptions",
    "NpmExecOptions",
    "NpxOptions",
    "PowerShellOptions",
    "ProgramOptions",
    "ProgramResult",
    "PythonCommandOptions",
    "run_program",
    "tagged",
]
