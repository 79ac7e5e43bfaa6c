"""Start, watch, cap and kill process trees.

Above: workspaces, which decide where a command runs. Below: the operating system. `programs` is a
door of its own: programs as values, run to their end.
"""

from lineshaft.processes._attended import attended
from lineshaft.processes._capture import Capture
from lineshaft.processes._environment import minimal_environment
from lineshaft.processes._lines import Splitter
from lineshaft.processes._piped import Piped, piped
from lineshaft.processes._start import start

__all__ = [
    "Capture",
    "Piped",
    "Splitter",
    "attended",
    "minimal_environment",
    "piped",
    "start",
]
