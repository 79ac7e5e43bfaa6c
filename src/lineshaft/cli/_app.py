"""The commands, and the way in.

Only the command that was named is imported: `--help` and completion must not wait for the rest.
"""

import importlib
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, cast

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Args:
        arguments: Words after the program's name; those of the process where none are given.
    """
    prepare_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _app(_named(words))(args=words, prog_name="lineshaft")
    except LineshaftError as error:
        note(f"{paint('error', 'red')}: {clean(error.message)}")
        if error.hint:
            note(f"{paint('hint', 'yellow')}: {clean(error.hint)}")
        sys.exit(exit_code(error))
    except KeyboardInterrupt:
        sys.exit(CANCELLED)


def _app(named: str | None) -> typer.Typer:
    """Return the application, with only the named command loaded."""
    app = typer.Typer(
        name="lineshaft",
        help="One Python script drives every tool of an agent, and stays under control.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
    )
    app.callback()(_version)
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


def _version(
    *,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from importlib import metadata  # noqa: PLC0415  a seventh of what --help may cost

        result(f"lineshaft {metadata.version('lineshaft')}")
        raise typer.Exit


def _load(name: str) -> Callable[..., None]:
    module = importlib.import_module(f"lineshaft.cli._{name.replace(' ', '_')}")
    return cast("Callable[..., None]", module.command)


def _unloaded() -> None:
    """Stand in for a command that was not named."""
