"""The command line: one file a command; the only room that prints.

Above: a person or a program at a shell. Below: `config`, which reads files and variables, and the
session that it builds. Results go to standard output, everything else to standard error.
"""

from lineshaft.cli._app import main

__all__ = ["main"]
