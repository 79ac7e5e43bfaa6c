"""Programs of `python_run` as plain processes, where somebody wants no boundary."""

from anyio import to_thread

from lineshaft.kit._failures import invalid
from lineshaft.kit.python.answers import Printed, ran, timed_out
from lineshaft.kit.python.jailed import argv_of
from lineshaft.kit.python.program import LONGEST_ARGUMENT, Program, time_of
from lineshaft.kit.python.results import PythonResult
from lineshaft.sandbox import resolve
from lineshaft.values import NO_BOUNDARY, Command, Context


async def run_plainly(call: Context, program: Program) -> PythonResult:
    """Run it as a process like any other; a person has said so, and was asked about the call."""
    interpreter = await to_thread.run_sync(resolve, call.python)
    if len(program.source) > LONGEST_ARGUMENT:
        raise invalid("the program is too long for a plain process")
    seconds = time_of(call).left()
    argv = argv_of(interpreter, program, source=program.source.decode("utf-8", "replace"))
    process = await call.workspace.run(Command(argv=tuple(argv), seconds=seconds))
    done = await process.wait()
    printed = Printed(
        stdout=done.stdout,
        stderr=done.stderr,
        stdout_truncated=done.stdout_truncated,
        stderr_truncated=done.stderr_truncated,
    )
    if done.timed_out:
        text = f"the program was ended after {seconds:g} s; what it had changed stays"
        return timed_out(text, printed)
    return ran(done.exit_code, printed, milliseconds=done.duration_ms, boundary=NO_BOUNDARY)
