"""The tool that runs a program."""

import re
import time

from lineshaft.errors import FileMissing, ToolError
from lineshaft.kit._failures import invalid, raised_by_calls
from lineshaft.kit._results import CommandResult, change
from lineshaft.tools import tool
from lineshaft.values import Command, Context, Exit, SecretFinder, ending, lazy_pattern, shell_words

DEFAULT_SECONDS = 60.0
MOST_SECONDS = 600.0
_TOLD_CHARACTERS = 2_000
_SHELL = lazy_pattern(
    r"""
      \\. | '[^']*'                       # escaped, or between quotes that keep everything
    | "(?:\\.|[^"\\$`]|\$(?![A-Za-z_{(]))*(?:(?P<quoted>[$`])|")?
    | (?P<bare>[|&;<>()`\n]|\$(?=[A-Za-z_{(]))
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS_OF_SHELLS = ("cd", "exit", "export", "set", "source", "type", "ulimit", "umask", "unset")


@tool(effect="exec")
async def run_command(
    command: str,
    call: Context,
    args: list[str] | None = None,
    timeout: float | None = None,  # noqa: ASYNC109  the tool's own parameter, of the process
) -> CommandResult:
    """Run a program in the workspace's folder and wait until it has ended.

    There is no shell: no pipes, redirections, `&&`, variables or wildcards; for those run `sh` with
    `args` of `["-c", "..."]`. Standard input is empty, so choose options that ask nothing. An exit
    code other than 0 is a result, not an error. Of long output the middle is left out. Processes
    that the program leaves behind are ended with it.

    Args:
        command: The program alone where `args` are given, otherwise the whole command line, split
            at blanks, with quotes respected.
        call: The call.
        args: The program's arguments, one by one.
        timeout: Seconds until it is ended, 60 where left out; then the call fails.
    """
    argv = (command, *args) if args is not None else split_command(command)
    if timeout is not None and not 0 < timeout <= MOST_SECONDS:
        raise invalid(
            f"`timeout` is {timeout:g}: it may be above 0, up to {MOST_SECONDS:g} seconds"
        )
    seconds = _seconds(timeout, call.deadline - time.monotonic())
    with raised_by_calls():
        try:
            process = await call.workspace.run(Command(argv=argv, seconds=seconds))
        except FileMissing as error:
            hint = _why_missing(command, split=args is None) or error.hint
            raise FileMissing(error.message, hint=hint) from error
        done = await process.wait()
    if done.timed_out:
        raise ToolError(
            "E_TOOL_TIMEOUT",
            f"{argv[0]!r} was ended after {seconds:g} s. {_so_far(done, call.secrets)}",
            hint=_more_time(timeout, seconds),
        )
    return {
        "exit_code": done.exit_code,
        "stdout": done.stdout,
        "stderr": done.stderr,
        "duration_ms": done.duration_ms,
        "stdout_truncated": done.stdout_truncated,
        "stderr_truncated": done.stderr_truncated,
        "replaced_bytes": done.replaced_bytes,
        "changes": [change(made) for made in done.changes],
    }


def split_command(command: str) -> tuple[str, ...]:
    """Split a command line as a shell would, and refuse what only a shell can do."""
    for found in _SHELL().finditer(command):
        sign = found["quoted"] or found["bare"]
        if sign:
            raise invalid(
                f"{sign!r} in {command!r} needs a shell, and there is none",
                'Call `sh -c`: command="sh", args=["-c", "..."]; or quote it if it is text.',
            )
    try:
        argv = tuple(shell_words(command))
    except ValueError as error:
        raise invalid(f"{command!r} cannot be split: {error}", "Give `args` as a list.") from error
    if not argv:
        raise invalid("`command` is empty: name a program")
    return argv


def _why_missing(command: str, *, split: bool) -> str:
    """Return advice for a program that does not exist, such as a word of a shell."""
    program = "".join(command.split()[:1])
    if not split and program != command:
        return "Where `args` are given, `command` is the program alone."
    if program in _WORDS_OF_SHELLS:
        return 'Only a shell knows it: command="sh", args=["-c", "..."].'
    return "Call `env` to set variables: env NAME=VALUE PROGRAM." if "=" in program else ""


def _seconds(wanted: float | None, left: float) -> float:
    """Return when to end the program: early enough to say what it had written."""
    margin = min(3.0, max(left / 10, min(0.5, left / 2)))
    return round(max(0.05, min(wanted or DEFAULT_SECONDS, left - margin)), 3)


def _more_time(wanted: float | None, given: float) -> str:
    """Return what gives a program more time; the call's own time ends what wants more."""
    if given < (wanted or DEFAULT_SECONDS):
        return "Do less at once: the call has no more time; limits.call_seconds sets it."
    return "Give a longer `timeout`, or do less at once; limits.call_seconds sets the most."


def _so_far(done: Exit, secrets: SecretFinder) -> str:
    parts = [
        f"{name} so far:\n{ending(text, _TOLD_CHARACTERS, secrets=secrets)}"
        for name, text in (("Output", done.stdout), ("Errors", done.stderr))
        if text
    ]
    return "\n".join(parts) or "It had written nothing."
