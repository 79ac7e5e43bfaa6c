"""`lineshaft config trust`: approve what a project's file wants to start."""

import sys
from typing import Annotated

import typer

from lineshaft.cli._options import Workspace, confirm_module, describe_module, settings_for
from lineshaft.cli._terminal import is_terminal, note, one_line
from lineshaft.config import approve, guard_modules, unapproved
from lineshaft.errors import ConfigError


def command(
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve all of them; you have read them.")
    ] = False,
    workspace: Workspace = None,
) -> None:
    """Show each module that waits for approval, and ask about it."""
    settings = settings_for(workspace)
    waiting = unapproved((*settings.modules, *guard_modules(settings)))
    if not waiting:
        note("nothing waits for approval")
    if waiting and not yes and not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        raise ConfigError("there is no terminal to ask on", hint="read the modules; then add --yes")
    for module in waiting:
        if yes:
            describe_module(module)
        if yes or confirm_module(module):
            approve(module)
            note(f"approved {one_line(module.name)} as it is now")
