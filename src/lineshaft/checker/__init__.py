"""The type checker of scripts: `ty`, kept warm as a language server, started at first use.

Above: the scripts room, through the `Checker` seam. Below: the program `ty`, spoken to by the
    language
server protocol over pipes. Nothing of a script is executed.

Not covered: `ty` runs as the user, unjailed, and reads hostile text. It gets no tool, no variable
of the host's environment and no folder but one of its own; its memory and its time are bounded.
"""

from lineshaft.checker._checker import TyChecker

__all__ = ["TyChecker"]
