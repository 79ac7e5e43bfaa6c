"""From what `python_run` is asked to what it answers."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from anyio import to_thread

from lineshaft.engines import Interpreter, Walls, best_jail, resolve
from lineshaft.errors import LineshaftError, PythonNotFound, ToolError, WorkspaceError
from lineshaft.kit._failures import invalid
from lineshaft.kit._python_changes import land
from lineshaft.kit._python_process import Ended, Order, Time, jailed_run
from lineshaft.kit._python_results import ProgramDidNotRun, ProgramRan, PythonResult
from lineshaft.kit._python_walls import closed
from lineshaft.values import NO_BOUNDARY, Command, Context

_INLINE = "<python_run>"
_RUNNER = Path(__file__).with_name("_python_inside.py")
_FLAGS = ("-E", "-s", "-B", "-X", "utf8")
_LONGEST_ARGUMENT = 100_000
_MOST_ARGUMENT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to be run."""

    name: str
    """In `sys.argv[0]` and tracebacks."""

    place: str
    """In `__file__`."""

    source: bytes
    args: tuple[str, ...]
    folders: tuple[str, ...]
    """First on `sys.path`."""


async def run_python(
    call: Context, *, code: str | None, file: str | None, args: Sequence[str]
) -> PythonResult:
    """Run a program as `python_run` does; never raises for what it can put into its answer."""
    try:
        root = Path((await call.workspace.resolve(".")).real)
        program = await _program(call, root, code=code, file=file, args=args)
        if call.python.boundary == NO_BOUNDARY:
            return await _run_plainly(call, program)
        return await _run_jailed(call, root, program)
    except LineshaftError as error:
        # No places of this machine, which are nobody's business and cannot be reached.
        message = error.message.replace(str(Path.home()), "~")
        return _failed(_code(error), message, hint=error.hint)


def _failed(
    code: str, message: str, *, hint: str = "", details: Mapping[str, object] | None = None
) -> ProgramDidNotRun:
    told = {**(details or {}), **({"hint": hint} if hint else {})}
    return {"ok": False, "error": {"code": code, "message": message, "details": told}}


def _code(error: LineshaftError) -> str:
    known = isinstance(error, ToolError | WorkspaceError | PythonNotFound)
    return error.code if known else "PYTHON_EXEC_FAILED"


async def _program(
    call: Context, root: Path, *, code: str | None, file: str | None, args: Sequence[str]
) -> Program:
    _check_arguments(args)
    if (code is None) == (file is None):
        raise invalid("give either `code` or `file`", "One of them, not both.")
    if file is not None:
        return await _from_file(call, root, file, tuple(args))
    if code is None or not code.strip():
        raise invalid("`code` is empty: give the text of a program")
    return Program(
        name=_INLINE, place=_INLINE, source=code.encode(), args=tuple(args), folders=(str(root),)
    )


async def _from_file(call: Context, root: Path, file: str, args: tuple[str, ...]) -> Program:
    resolved = await call.workspace.resolve(file)
    try:
        source = (await call.workspace.read(file)).data
    except WorkspaceError as error:
        if error.code != "E_TOOL_FAILED":
            raise
        raise invalid(f"`file` cannot be run: {error.message}") from error
    real = Path(resolved.real)
    inside = real.is_relative_to(root)
    return Program(
        name=resolved.path,
        place=str(real) if inside else resolved.path,
        source=source,
        args=args,
        folders=(str(root), str(real.parent)) if inside else (str(root),),
    )


def _check_arguments(args: Sequence[str]) -> None:
    for number, arg in enumerate(args):
        size = len(arg.encode())
        if "\0" in arg:
            raise invalid(f"`args[{number}]` holds a NUL character")
        if size > _LONGEST_ARGUMENT:
            raise invalid(
                f"`args[{number}]` has {size:,} bytes; an argument has {_LONGEST_ARGUMENT:,} at"
                " most",
                "Put long texts into a file.",
            )
    if sum(map(len, args)) > _MOST_ARGUMENT_BYTES:
        raise invalid(f"`args` is longer than {_MOST_ARGUMENT_BYTES:,} bytes in all")


async def _run_jailed(call: Context, root: Path, program: Program) -> PythonResult:
    jail = await to_thread.run_sync(best_jail, call.python.boundary)
    interpreter = await to_thread.run_sync(resolve, call.python)
    shut = await to_thread.run_sync(closed, root, call.reach)
    walls = Walls(
        readable=(*interpreter.readable, _RUNNER),
        hidden=tuple(shut.hidden),
        readonly=tuple(shut.readonly),
        env=_environment(interpreter),
    )
    order = Order(
        argv=_argv(interpreter, program, source=""),
        source=program.source,
        walls=walls,
        apart=root,
        time=_time(call),
    )
    async with jailed_run(jail, order) as ended:
        return await answer_of(call, ended)


async def answer_of(call: Context, ended: Ended) -> PythonResult:
    """Land what a program did, and return what is said of it."""
    code = ended.exit_code
    printed = {"stdout": ended.stdout.text(), "stderr": ended.stderr.text()}
    if code is None:
        text = f"the program was ended after {ended.seconds:g} s; none of its changes were kept"
        return _timeout(text, printed)
    if not ended.started:
        text = f"Python ended with {code} before the program began"
        return _failed("PYTHON_EXEC_FAILED", text, details=printed)
    changes = await to_thread.run_sync(ended.jailed.changes)
    try:
        not_kept = await land(call, changes)
    except (ToolError, WorkspaceError) as error:
        details = {**printed, "exitCode": code}
        return _failed(error.code, error.message, hint=error.hint, details=details)
    result: ProgramRan = {
        "ok": True,
        "stdout": printed["stdout"],
        "stderr": printed["stderr"],
        "exitCode": code,
        "durationMs": ended.milliseconds,
        "stdoutTruncated": ended.stdout.truncated,
        "stderrTruncated": ended.stderr.truncated,
    }
    if not_kept:
        result["notKept"] = not_kept
    return result


async def _run_plainly(call: Context, program: Program) -> PythonResult:
    """Run it as a process like any other; a person has said so, and was asked about the call."""
    interpreter = await to_thread.run_sync(resolve, call.python)
    if len(program.source) > _LONGEST_ARGUMENT:
        raise invalid("the program is too long for a plain process")
    seconds = _time(call).left()
    argv = _argv(interpreter, program, source=program.source.decode("utf-8", "replace"))
    process = await call.workspace.run(Command(argv=tuple(argv), seconds=seconds))
    done = await process.wait()
    if done.timed_out:
        text = f"the program was ended after {seconds:g} s; what it had changed stays"
        return _timeout(text, {"stdout": done.stdout, "stderr": done.stderr})
    return {
        "ok": True,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "exitCode": done.exit_code,
        "durationMs": round(done.duration_ms),
        "stdoutTruncated": done.stdout_truncated,
        "stderrTruncated": done.stderr_truncated,
    }


def _argv(interpreter: Interpreter, program: Program, *, source: str) -> list[str]:
    folders = program.folders
    if interpreter.packages is not None:
        folders = (*folders, str(interpreter.packages))
    runner = [str(interpreter.executable), *_FLAGS, str(_RUNNER)]
    return [*runner, program.name, program.place, os.pathsep.join(folders), source, *program.args]


def _environment(interpreter: Interpreter) -> dict[str, str]:
    zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
    path = str(interpreter.executable.parent)
    return {"LANG": "C.UTF-8", "PATH": path, **_FEW_THREADS, **zone}


_FEW_THREADS = {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"}
"""Libraries that compute would start one for each processor, more than a jail may hold."""


def _time(call: Context) -> Time:
    """Return when to end the program: early enough to say what it had printed."""
    left = call.deadline - monotonic()
    margin = min(3.0, max(left / 10, min(0.5, left / 2)))
    return Time(seconds=call.python.seconds, until=call.deadline - margin)


def _timeout(message: str, printed: Mapping[str, object]) -> ProgramDidNotRun:
    hint = "Do less at once; more time is a setting, python.timeout_seconds."
    return _failed("PYTHON_TIMEOUT", message, hint=hint, details=printed)
