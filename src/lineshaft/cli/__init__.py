"""The command line: one file a command; the only room that prints.

Above: a person or a program at a shell. Below: `config`, which reads files and variables, and the
session that it builds. Results go to standard output, everything else to standard error.
"""

import gc
import signal
import sys

from lineshaft.cli._leaving import leave_at_once

TYPE_CHECKING = False  # `typing` is slow to import, and Ctrl-C before it is there is not answered
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]


def main() -> "NoReturn":
    """Run the command line of this process and exit."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave_at_once)
    gc.disable()  # until all is imported, which makes no garbage: a tenth of a short command
    from lineshaft.cli._app import execute, leave  # noqa: PLC0415  Ctrl-C counts before it too

    leave(execute(sys.argv[1:]))
