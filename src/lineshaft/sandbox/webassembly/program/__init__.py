"""Program mode of the image: one program over a private copy of a workspace, in a child process."""

from lineshaft.sandbox.webassembly.program._copy import Bounds, WorkspaceCopy
from lineshaft.sandbox.webassembly.program._run import ProgramEnd, ProgramOrder, run_program

__all__ = ["Bounds", "ProgramEnd", "ProgramOrder", "WorkspaceCopy", "run_program"]
