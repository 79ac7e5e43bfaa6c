"""`python_run` from request to answer: the choice of the boundary for a program."""

from collections.abc import Sequence
from pathlib import Path

from lineshaft.errors import (
    LineshaftError,
    NoBoundary,
    PythonNotFound,
    ToolError,
    WorkspaceError,
)
from lineshaft.kit.jailed import until_cancelled
from lineshaft.kit.python.answers import failed
from lineshaft.kit.python.native import run_jailed, run_plainly
from lineshaft.kit.python.program import PythonProgram, program_of
from lineshaft.kit.python.results import PythonResult
from lineshaft.kit.python.wasm import run_in_wasm
from lineshaft.sandbox.jail import Jail, best_jail
from lineshaft.values import NO_BOUNDARY, WASM_BOUNDARY, Context, PythonOptions


async def run_python(
    call: Context, *, code: str | None, file: str | None, args: Sequence[str]
) -> PythonResult:
    """Run a program as `python_run` does; never raises for what it can put into its answer."""
    try:
        return await _run(call, await program_of(call, code=code, file=file, args=args))
    except LineshaftError as error:
        # No paths of this machine, which are private and cannot be reached.
        message = error.message.replace(str(Path.home()), "~")
        return failed(_code(error), message, hint=error.hint)


def _code(error: LineshaftError) -> str:
    known = isinstance(error, ToolError | WorkspaceError | PythonNotFound)
    return error.code if known else "PYTHON_EXEC_FAILED"


async def _run(call: Context, program: PythonProgram) -> PythonResult:
    if call.python.boundary == NO_BOUNDARY:
        return await run_plainly(call, program)
    jail = await until_cancelled(lambda _: _jail(call.python))
    if jail is None:
        return await run_in_wasm(call, program)
    return await run_jailed(call, program, jail)


def _jail(options: PythonOptions) -> Jail | None:
    """Return the jail to use; None: programs run in WebAssembly.

    Raises:
        NoBoundary: The jail that was asked for does not work, or none does where the Python that
            was asked for needs one.
    """
    if options.boundary == WASM_BOUNDARY:
        return None
    try:
        return best_jail(options.boundary)
    except NoBoundary:
        if options.boundary is not None or options.path is not None:
            raise
        return None
