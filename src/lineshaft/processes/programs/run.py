"""The run of one program, from its start to its end."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from lineshaft.errors import FileMissing, ProgramTimedOut
from lineshaft.processes._start import start
from lineshaft.processes.programs.command import ProgramOptions
from lineshaft.processes.programs.result import (
    KeptLines,
    ProgramResult,
    result_of,
)
from lineshaft.values import NO_SECRETS, Command, Line, Process, SecretFinder

StartProcess = Callable[[Command], Awaitable[Process]]
"""Starts a command, as a workspace's `run` does."""


async def run_program(
    options: ProgramOptions,
    *,
    on_line: Callable[[Line], object] | None = None,
    starting: StartProcess | None = None,
    secrets: SecretFinder = NO_SECRETS,
) -> ProgramResult:
    """Run a program and wait for its end; what it has started ends with it.

    Cancellation ends the whole process tree, and is raised once nothing of it is left.

    Args:
        options: What to start.
        on_line: Is told each line as it comes, with its stream.
        starting: Starts it; the working folder is then what that decides. None: it is started in
            `options.cwd`.
        secrets: What is not cut in two where its output is.

    Raises:
        ProgramTimedOut: It took longer than its time.
        FileMissing: There is no such program; the hint says how it is installed.
        WorkspaceError: It could not be started for another reason.
    """
    kept = KeptLines(options.stdout_bytes + options.stderr_bytes)
    process = await _started(options, starting, secrets)
    try:
        async for line in process.lines():
            kept.add(line)
            if on_line is not None:
                on_line(line)
        done = await process.wait()
    except Exception:  # of `on_line`, which is foreign code
        await process.kill()
        raise
    result = result_of(options, done, kept)
    if done.timed_out:
        raise ProgramTimedOut(
            f"{options.label!r} was ended after {options.seconds:g} s, with all that it had"
            " started",
            output=result.output,
            hint="Give it more time, or have it do less at once.",
        )
    return result


async def _started(
    options: ProgramOptions, starting: StartProcess | None, secrets: SecretFinder
) -> Process:
    try:
        if starting is not None:
            return await starting(options.command)
        cwd = options.cwd or Path.cwd()
        return await start(options.command, cwd=cwd, secrets=secrets)
    except FileMissing as error:
        hint = options.install or error.hint
        raise FileMissing(error.message, hint=hint) from error
