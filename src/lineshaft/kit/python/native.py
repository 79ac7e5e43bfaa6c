"""Programs of `python_run` as processes: in a jail, or plain where a person wants no boundary."""

import os
from pathlib import Path

from lineshaft.kit._failures import invalid
from lineshaft.kit.jailed import (
    JailedProgram,
    ProgramOutcome,
    closed,
    jailed_run,
    to_the_end,
    until_cancelled,
)
from lineshaft.kit.python.answers import ProgramOutput, did_not_begin, landed, ran, timed_out
from lineshaft.kit.python.program import LONGEST_ARGUMENT, PythonProgram, time_of
from lineshaft.kit.python.results import PythonResult
from lineshaft.sandbox.bundle import Interpreter, resolve
from lineshaft.sandbox.jail import Jail, SandboxSpec
from lineshaft.values import NO_BOUNDARY, Command, Context

RUNNER = Path(__file__).with_name("inside.py")
_FLAGS = ("-E", "-s", "-B", "-X", "utf8")
_FEW_THREADS = {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"}
"""Libraries that compute would start one for each processor, more than a jail may hold."""


async def run_jailed(call: Context, program: PythonProgram, jail: Jail) -> PythonResult:
    """Run a program in a jail."""
    interpreter = await until_cancelled(lambda _: resolve(call.python))
    needed = interpreter.readable
    staged = await call.workspace.kept_back()
    shut = await until_cancelled(
        lambda left: closed(program.root, call.reach, needed, staged=staged, left=left)
    )
    spec = SandboxSpec(
        readable=(*interpreter.readable, RUNNER),
        hidden=tuple(shut.hidden),
        readonly=tuple(shut.readonly),
        over=staged,
        env=_environment(interpreter),
    )
    order = JailedProgram(
        argv=argv_of(interpreter, program, source=""),
        source=program.source,
        spec=spec,
        apart=program.root,
        time=time_of(call),
        secrets=call.secrets,
    )
    async with jailed_run(jail, order) as ended:
        return await answer_of(call, ended, boundary=jail.name)


async def answer_of(call: Context, ended: ProgramOutcome, *, boundary: str) -> PythonResult:
    """Land what a program did, and return what is said of it."""
    code = ended.exit_code
    printed = ProgramOutput(
        stdout=ended.stdout.text(),
        stderr=ended.stderr.text(),
        stdout_truncated=ended.stdout.truncated,
        stderr_truncated=ended.stderr.truncated,
        replaced_bytes=ended.stdout.replaced + ended.stderr.replaced,
    )
    if code is None:
        text = f"the program was ended after {ended.seconds:g} s; none of its changes were kept"
        return timed_out(text, printed)
    if not ended.started:
        return did_not_begin(code, printed)
    return await landed(
        call,
        await to_the_end(lambda _: ended.jailed.changes()),
        code=code,
        printed=printed,
        milliseconds=ended.milliseconds,
        boundary=boundary,
    )


def argv_of(interpreter: Interpreter, program: PythonProgram, *, source: str) -> list[str]:
    """Return the command of a program: interpreter, runner and what it is told."""
    folders = [str(program.root)]
    if program.file is not None:
        folders.append(str(program.file.parent))
    if interpreter.packages is not None:
        folders.append(str(interpreter.packages))
    place = program.name if program.file is None else str(program.file)
    runner = [str(interpreter.executable), *_FLAGS, str(RUNNER)]
    return [*runner, program.name, place, os.pathsep.join(folders), source, *program.args]


def _environment(interpreter: Interpreter) -> dict[str, str]:
    zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
    path = str(interpreter.executable.parent)
    return {"LANG": "C.UTF-8", "PATH": path, **_FEW_THREADS, **zone}


async def run_plainly(call: Context, program: PythonProgram) -> PythonResult:
    """Run it as a process like any other; a person has said so, and was asked about the call."""
    interpreter = await until_cancelled(lambda _: resolve(call.python))
    if len(program.source) > LONGEST_ARGUMENT:
        raise invalid("the program is too long for a plain process")
    seconds = time_of(call).left()
    argv = argv_of(interpreter, program, source=program.source.decode("utf-8", "replace"))
    process = await call.workspace.run(Command(argv=tuple(argv), seconds=seconds))
    done = await process.wait()
    printed = ProgramOutput(
        stdout=done.stdout,
        stderr=done.stderr,
        stdout_truncated=done.stdout_truncated,
        stderr_truncated=done.stderr_truncated,
        replaced_bytes=done.replaced_bytes,
    )
    if done.timed_out:
        text = f"the program was ended after {seconds:g} s; what it had changed stays"
        return timed_out(text, printed)
    return ran(done.exit_code, printed, milliseconds=done.duration_ms, boundary=NO_BOUNDARY)
