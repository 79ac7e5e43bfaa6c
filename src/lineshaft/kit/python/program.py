"""The program that `python_run` is asked for, before it is known where it runs."""

from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from lineshaft.errors import WorkspaceError
from lineshaft.kit._failures import invalid
from lineshaft.kit.jailed import ProgramTime
from lineshaft.values import Context, Struct

LONGEST_ARGUMENT = 100_000
_MOST_ARGUMENT_BYTES = 1_000_000
_INLINE = "<python_run>"


class PythonProgram(Struct, frozen=True, kw_only=True):
    """The Python program to run."""

    name: str
    """In `sys.argv[0]` and tracebacks."""

    source: bytes
    args: tuple[str, ...]
    root: Path
    """The workspace's folder."""

    file: Path | None = None
    """Where it lies; None where it is in no file of the workspace."""


def time_of(call: Context) -> ProgramTime:
    """Return when to end a call's program: early enough to say what it had printed."""
    left = call.deadline - monotonic()
    margin = min(3.0, max(left / 10, min(0.5, left / 2)))
    return ProgramTime(seconds=call.python.seconds, until=call.deadline - margin)


async def program_of(
    call: Context, *, code: str | None, file: str | None, args: Sequence[str]
) -> PythonProgram:
    """Return the program that a call asks for.

    Raises:
        ToolError: The arguments do not name one.
        WorkspaceError: Its file cannot be read.
    """
    _check_arguments(args)
    if (code is None) == (file is None):
        raise invalid("give either `code` or `file`", "One of them, not both.")
    root = Path((await call.workspace.resolve(".")).real)
    if file is not None:
        return await _from_file(call, root, file, tuple(args))
    if code is None or not code.strip():
        raise invalid("`code` is empty: give the text of a program")
    return PythonProgram(name=_INLINE, source=code.encode(), args=tuple(args), root=root)


async def _from_file(call: Context, root: Path, file: str, args: tuple[str, ...]) -> PythonProgram:
    resolved = await call.workspace.resolve(file)
    try:
        source = (await call.workspace.read(file)).data
    except WorkspaceError as error:
        if error.code != "E_TOOL_FAILED":
            raise
        raise invalid(f"`file` cannot be run: {error.message}") from error
    real = Path(resolved.real)
    inside = real if real.is_relative_to(root) else None
    return PythonProgram(name=resolved.path, source=source, args=args, root=root, file=inside)


def _check_arguments(args: Sequence[str]) -> None:
    for number, arg in enumerate(args):
        size = len(arg.encode())
        if "\0" in arg:
            raise invalid(f"`args[{number}]` holds a NUL character")
        if size > LONGEST_ARGUMENT:
            raise invalid(
                f"`args[{number}]` has {size:,} bytes; an argument has {LONGEST_ARGUMENT:,} at"
                " most",
                "Put long texts into a file.",
            )
    if sum(map(len, args)) > _MOST_ARGUMENT_BYTES:
        raise invalid(f"`args` is longer than {_MOST_ARGUMENT_BYTES:,} bytes in all")
