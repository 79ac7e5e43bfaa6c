"""The commands, and the way in.

Only the command that was named is imported: `--help` and completion must not wait for the rest.
"""

import importlib
import os
import shlex
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NoReturn, cast

import typer

from lineshaft.cli._exit import CANCELLED, exit_code
from lineshaft.cli._terminal import clean, note, paint, prepare_streams, result
from lineshaft.errors import LineshaftError

COMMANDS: Mapping[str, str] = {
    "init": "Write a commented lineshaft.toml.",
    "run": "Run a script over the configured tools.",
    "check": "Say what is wrong with a script, without running it.",
    "tools": "List, search and describe the tools.",
    "call": "Call one tool, under the same policy as a script.",
    "runs": "List the recorded runs of this workspace.",
    "show": "Show the record of a run, the last one if none is named.",
    "doctor": "Say what works on this machine, by trying it.",
    "config show": "Show every setting and where it comes from.",
    "config trust": "Approve the Python modules that a project's file names.",
}
"""What there is, with its line in the help; each lives in the file of its name."""

_GROUPS = {"config": "Settings and where they come from."}


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    code = execute(sys.argv[1:])
    threads = (t for t in threading.enumerate() if t is not threading.main_thread())
    if any(thread.is_alive() and not thread.daemon for thread in threads):
        # A tool that was abandoned in its thread must not keep the process; all is settled,
        # recorded and flushed.
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
    try:
        _app(_named(words))(args=list(words), prog_name="lineshaft")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except LineshaftError as error:
        note(f"{paint('error', 'red')}: {clean(error.message)}")
        if error.hint:
            note(f"{paint('hint', 'yellow')}: {clean(error.hint)}")
        return exit_code(error)
    except KeyboardInterrupt:
        return CANCELLED
    return 0


def _app(named: str | None) -> typer.Typer:
    """Return the application, with only the named command loaded."""
    app = typer.Typer(
        name="lineshaft",
        help="One Python script drives every tool of an agent, and stays under control.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_root)
    groups = {
        name: typer.Typer(help=text, rich_markup_mode=None, no_args_is_help=True)
        for name, text in _GROUPS.items()
    }
    for name, group in groups.items():
        app.add_typer(group, name=name)
    for name, text in COMMANDS.items():
        group, _, leaf = name.rpartition(" ")
        home = groups[group] if group else app
        home.command(leaf, help=text)(_load(name) if name == named else _unloaded)
    return app


def _named(words: Sequence[str]) -> str | None:
    """Return the command that a command line, or the one being completed, speaks of."""
    completing = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS")
    if completing is not None:
        try:
            words = shlex.split(completing)[1:]
        except ValueError:
            words = completing.split()[1:]
    plain = [word for word in words if not word.startswith("-")]
    for count in (2, 1):
        if " ".join(plain[:count]) in COMMANDS:
            return " ".join(plain[:count])
    return None


def _version(wanted: object) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415  a seventh of what --help may cost

        result(f"lineshaft {metadata.version('lineshaft')}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
) -> None:
    del version


def _load(name: str) -> Callable[..., None]:
    module = importlib.import_module(f"lineshaft.cli._{name.replace(' ', '_')}")
    return cast("Callable[..., None]", module.command)


def _unloaded() -> None:
    """Stand in for a command that was not named."""
