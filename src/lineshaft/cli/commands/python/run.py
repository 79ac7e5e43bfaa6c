"""`lineshaft python`: a program, run as the tool `python_run` runs it."""

import json as json_module
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import click
from msgspec.structs import replace

from lineshaft import kit
from lineshaft.cli import _completion
from lineshaft.cli._approver import TerminalApprover
from lineshaft.cli._carry import SignalHandling, carry
from lineshaft.cli._display import Silent
from lineshaft.cli._exit import DENIED
from lineshaft.cli._keyboard import can_ask
from lineshaft.cli._leaving import CANCELLED
from lineshaft.cli._options import (
    guards_for,
    json_option,
    mode_option,
    settings_for,
    workspace_option,
)
from lineshaft.cli._records import store_for
from lineshaft.cli._script import outdented, read_script
from lineshaft.cli._terminal import clean, note, paint, pass_on, result
from lineshaft.cli.commands.call import make_call
from lineshaft.config import build
from lineshaft.errors import ConfigError
from lineshaft.values import EXIT_CODES, CallResult

_MORE_SECONDS = 5
"""So that the program's own time is over before the call's."""

_SIGNALLED = 128
_CODES = {
    "E_DENIED": DENIED,
    "E_TOOL_TIMEOUT": 4,
    "PYTHON_TIMEOUT": 4,
    "E_PAUSED": EXIT_CODES["paused"],
    "E_CANCELLED": CANCELLED,
}


@click.argument(
    "words",
    nargs=-1,
    shell_complete=_completion.files,
    metavar="[FILE] [ARGS]...",
    help="A file of the workspace, or - for standard input; then the program's arguments.",
)
@click.option("-c", "code", metavar="CODE", help="The program itself.")
@click.option("--timeout", type=float, metavar="S", help="Seconds it may take.")
@mode_option
@workspace_option
@json_option
def command(
    *,
    words: tuple[str, ...],
    code: str | None,
    timeout: float | None,
    mode: str | None,
    workspace: Path | None,
    json: bool,
) -> None:
    """Run a program and exit with its exit code."""
    settings = settings_for(workspace, mode=mode, python_seconds=timeout)
    arguments = _arguments(words, code, settings.root)
    limits = settings.limits()
    seconds = max(limits.call_seconds, settings.python.seconds + _MORE_SECONDS)
    session = build(
        settings,
        toolset=kit.tools("python_run"),
        guards=guards_for(settings),
        limits=replace(limits, call_seconds=seconds),
        approver=TerminalApprover(Silent()) if can_ask() else None,
        store=store_for(settings),
    )
    signals = SignalHandling()
    call = partial(make_call, session, "python_run", arguments, signals=signals)
    answer = _answer(carry(call, signals))
    if json:
        result(json_module.dumps(answer, ensure_ascii=False))
    else:
        _tell(answer)
    raise SystemExit(_exit_code(answer))


def _arguments(words: Sequence[str], code: str | None, root: Path) -> dict[str, object]:
    if code is not None:
        return {"code": outdented(code), "args": list(words)}
    if not words:
        raise ConfigError("there is no program", hint="name a file, or give the text with -c")
    if words[0] == "-":
        return {"code": read_script("-").text, "args": list(words[1:])}
    return {"file": _in_workspace(words[0], root), "args": list(words[1:])}


def _in_workspace(file: str, root: Path) -> str:
    """Return the workspace's name for a file, which a person names from where they are."""
    real, base = Path(os.path.realpath(file)), Path(os.path.realpath(root))
    if file.startswith("@") or not real.is_relative_to(base):
        return file
    name = real.relative_to(base).as_posix()
    return f"./{name}" if name.startswith("@") else name


def _answer(done: CallResult) -> dict[str, object]:
    """Return what `python_run` answered; a call that was refused looks like a failed one."""
    if done.error is None:
        return dict(cast("Mapping[str, object]", done.value))
    error = done.error
    details = {"hint": error.hint} if error.hint else {}
    told = {"code": error.code, "message": error.message, "details": details}
    return {"ok": False, "error": told}


def _tell(answer: Mapping[str, object]) -> None:
    """Print what the program printed, and why it did not run where that is so."""
    error = cast("Mapping[str, object]", answer.get("error", {}))
    details = cast("Mapping[str, object]", error.get("details", {}))
    printed = answer if answer["ok"] else details
    pass_on(str(printed.get("stdout", "")), sys.stdout)
    pass_on(str(printed.get("stderr", "")), sys.stderr)
    for path in cast("Sequence[str]", answer.get("notKept", ())):
        note(f"{paint('not kept', 'yellow')}: {clean(path)}")
    for path in cast("Sequence[str]", answer.get("leftOut", ())):
        note(f"{paint('not seen', 'yellow')}: {clean(path)}")
    if error:
        note(f"{paint('error', 'red')}: {clean(str(error['message']))} [{error['code']}]")
    if "hint" in details:
        note(f"{paint('hint', 'yellow')}: {clean(str(details['hint']))}")


def _exit_code(answer: Mapping[str, object]) -> int:
    if answer["ok"]:
        code = cast("int", answer["exitCode"])
        return code if code >= 0 else _SIGNALLED - code
    return _CODES.get(str(cast("Mapping[str, object]", answer["error"])["code"]), 1)
