"""The commands, and the way in.

Only the command that was named is imported: `--help` and completion must not wait for the rest.
"""

import gc
import importlib
import json
import keyword
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, cast

import click

from lineshaft import __version__
from lineshaft.cli._examples import shown
from lineshaft.cli._exit import LEFT_BEHIND, exit_code
from lineshaft.cli._leaving import leave_at_once
from lineshaft.cli._terminal import clean, note, paint, prepare_streams, result
from lineshaft.errors import ConfigError, LineshaftError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS: Mapping[str, str] = {
    "init": "Write a commented lineshaft.toml.",
    "run": "Run a script over the configured tools.",
    "preview": "Show what a script would do, and do nothing.",
    "resume": "Answer a paused run, and let it go on.",
    "undo": "Take back what a run did to files.",
    "replay": "Execute a run's script over its record, and name what differs.",
    "check": "Say what is wrong with a script, without running it.",
    "tools": "List, search and describe the tools.",
    "call": "Call one tool, under the same policy as a script.",
    "agent run": "Run a microagent, of a pack or of the configured tools.",
    "agent list": "List the agents that are offered, and the packs that are installed.",
    "agent show": "Say what an agent takes and gives, with a command line that runs it.",
    "serve": "Offer the tools to an MCP client, behind search and run.",
    "editor": "Serve a window of VS Code; the extension starts it.",
    "python run": "Run a Python program as the tool python_run does.",
    "python build": "Make the Python that programs get out of the one that runs this.",
    "python install": "Install the Python that programs get from an archive.",
    "runs list": "List the recorded runs of this workspace.",
    "runs prune": "Delete what was kept long enough.",
    "show": "Show the record of a run, the last one if none is named.",
    "explain": "Say which rule decided about a call, and where it is written.",
    "eval run": "Run tasks with variants, and compare them: does a script help?",
    "eval report": "Show what a sweep of runs found, and write its page.",
    "eval gate": "Say by the exit code whether a variant is worse than another.",
    "cache show": "Show what lies outside the workspace, and how much of it.",
    "cache clear": "Remove what can be made again.",
    "doctor": "Say what works on this machine, by trying it.",
    "config show": "Show every setting and where it comes from.",
    "config trust": "Approve the modules, agents and servers that a project names.",
    "config mcp show": "Show the MCP servers that were found, ours and of others.",
    "config mcp import": "Copy servers of other programs into ours, and approve them.",
    "config mcp claims": "Show what servers say of their tools, and answer once.",
    "completion": "Print what makes a shell complete command lines.",
}
"""What there is, with its line in the help; each lives in `commands`, in the file of its name."""

_GROUPS = {
    "agent": "Microagents; alone, it is `agent list`.",
    "cache": "What lies outside the workspace; alone, it is `cache show`.",
    "config": "Settings and where they come from.",
    "config mcp": "MCP servers; alone, it is `config mcp show`.",
    "eval": "Evidence: tasks, variants, repeats, statistics and a gate.",
    "python": "Python programs; `python FILE` is `python run FILE`.",
    "runs": "The recorded runs; alone, it is `runs list`.",
}

_UNNAMED = {"agent": "list", "cache": "show", "python": "run", "runs": "list", "config mcp": "show"}
"""Commands whose group alone means them."""


_HELP: dict[str, Any] = {"help_option_names": ["--help", "-h"]}


class _Interrupted(BaseException):
    """A `KeyboardInterrupt` on its way through click, which has answers of its own to those."""


def leave(code: int) -> NoReturn:
    """End this process, when its command line has been carried out."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is said; what is left may be cut short
    threads = (t for t in threading.enumerate() if t is not threading.main_thread())
    if LEFT_BEHIND or any(thread.is_alive() and not thread.daemon for thread in threads):
        # A tool that was abandoned must not keep the process; all is settled, recorded and
        # flushed.
        os._exit(code)
    sys.exit(code)


def execute(words: Sequence[str]) -> int:
    """Run one command line.

    Args:
        words: What stands after the program's name.

    Returns:
        The exit code.
    """
    prepare_streams()
    words = spelled_out(words)
    try:
        app = application(words)
        if signal.getsignal(signal.SIGINT) is leave_at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        ended: object = app(
            args=list(words), prog_name="lineshaft", obj=words, standalone_mode=False
        )
        return ended if isinstance(ended, int) else 0
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        why = " ".join(error.format_message().split())
        with suppress(LineshaftError):
            _tell(words, ConfigError(f"the command line is not understood: {why}", hint="--help"))
        return error.exit_code
    except LineshaftError as error:
        return _complain(words, error)
    except (_Interrupted, KeyboardInterrupt, click.Abort) as left:
        error = LineshaftError(str(left) or "cancelled")
        error.code = "E_CANCELLED"
        return _complain(words, error)
    except OSError as error:
        return _complain(words, LineshaftError(f"the output cannot be written: {error.strerror}"))


def _complain(words: Sequence[str], error: LineshaftError) -> int:
    with suppress(LineshaftError):  # the error cannot be shown
        note(f"{paint('error', 'red')}: {clean(error.message)}")
        if error.hint:
            note(f"{paint('hint', 'yellow')}: {clean(error.hint)}")
        _tell(words, error)
    return exit_code(error)


def _tell(words: Sequence[str], error: LineshaftError) -> None:
    """Print an error for a program, if one reads: with `--json` there is always one document."""
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options:
        told = {"code": error.code, "message": error.message, "hint": error.hint}
        result(json.dumps({"status": "error", "error": told}, ensure_ascii=False))


def spelled_out(given: Sequence[str]) -> Sequence[str]:
    """Return a command line with `python FILE` written as `python run FILE`, and so on."""
    words = list(given)
    named = [group for group in _UNNAMED if words[: len(group.split())] == group.split()]
    if not named:
        return words
    group = named[0]
    rest = words[len(group.split()) :]
    known = {name.rpartition(" ")[2] for name in COMMANDS if name.startswith(f"{group} ")}
    if rest[:1] in (["--help"], ["-h"]) or known.intersection(rest[:1]):
        return words
    if group == "python" and not rest:
        return words
    return [*group.split(), _UNNAMED[group], *rest]


def application(words: Sequence[str]) -> click.Group:
    """Return the application, with only the command loaded that a command line names.

    Args:
        words: The command line, spelled out.
    """
    named = _named(words)
    app = _CommandGroup(
        "lineshaft",
        help="One Python script drives every tool of an agent, and stays under control.",
        no_args_is_help=True,
        context_settings=_HELP,
    )
    app.params.append(_VERSION)
    groups: dict[str, click.Group] = {"": app}
    for name, text in COMMANDS.items():
        above, _, leaf = name.rpartition(" ")
        group = _group_of(groups, above)
        group.add_command(loaded(name) if name == named else click.Command(leaf, help=text))
    return app


def _version(context: click.Context, _option: click.Parameter, wanted: object) -> None:
    if wanted:
        result(f"lineshaft {__version__}")
        context.exit()


_VERSION = click.Option(
    ["--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)


class _CommandGroup(click.Group):
    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return commands, and files where a program may stand in the place of one."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  no command needs it

        found = super().shell_complete(ctx, incomplete)
        return [*found, CompletionItem(incomplete, type="file")] if self.name == "python" else found

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which they are of use, not in that of letters."""
        del ctx
        return list(self.commands)


def _group_of(groups: dict[str, click.Group], name: str) -> click.Group:
    if name not in groups:
        above, _, leaf = name.rpartition(" ")
        made = _CommandGroup(leaf, help=_GROUPS[name], no_args_is_help=True, context_settings=_HELP)
        _group_of(groups, above).add_command(made)
        groups[name] = made
    return groups[name]


def _named(words: Sequence[str]) -> str | None:
    """Return the command that a command line, or the one being completed, speaks of."""
    completing = os.environ.get("COMP_WORDS")
    if completing is not None and "_LINESHAFT_COMPLETE" in os.environ:
        try:
            words = shlex.split(completing)[1:]
        except ValueError:
            words = completing.split()[1:]
    plain = [word for word in words if not word.startswith("-")]
    for count in (3, 2, 1):
        if " ".join(plain[:count]) in COMMANDS:
            return " ".join(plain[:count])
    return None


def loaded(name: str) -> click.Command:
    """Import a command.

    Args:
        name: The groups it is in, and its own name, such as `config mcp show`.
    """
    *groups, leaf = name.split()
    file = f"{leaf}_" if keyword.iskeyword(leaf) else leaf
    module = importlib.import_module(".".join(("lineshaft.cli.commands", *groups, file)))
    if not gc.isenabled():  # see `main`
        gc.freeze()
        gc.enable()
    body = cast("Callable[..., None]", module.command)

    @wraps(body)
    def command(*context: click.Context, **options: object) -> None:
        try:
            body(*context, **options)
        except KeyboardInterrupt as left:
            raise _Interrupted(str(left)) from left

    # What follows a program's name belongs to the program.
    settings = {**_HELP, "allow_interspersed_args": name != "python run"}
    made = click.command(leaf, help=COMMANDS[name], epilog=shown(name), context_settings=settings)
    return made(command)
