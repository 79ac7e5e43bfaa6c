"""`lineshaft config trust`: approve what a project's file wants to start."""

import sys
from typing import Annotated

import typer

from lineshaft.cli._options import Workspace, confirm_module, describe_module, settings_for
from lineshaft.cli._terminal import is_terminal, note, one_line
from lineshaft.config import (
    ServerSetting,
    Unapproved,
    approval_of,
    approve,
    guard_modules,
    references,
    server_approved,
    servers,
    shown_server,
    unapproved,
)
from lineshaft.errors import ConfigError


def command(
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve all of them; you have read them.")
    ] = False,
    workspace: Workspace = None,
) -> None:
    """Show each module and server that waits for approval, and ask about it."""
    settings = settings_for(workspace)
    modules = unapproved((*settings.modules, *guard_modules(settings)))
    found = servers(settings).servers
    waiting = [each for each in found if not each.problem and not server_approved(each)]
    if not modules and not waiting:
        note("nothing waits for approval")
    elif not yes and not (sys.stdin.isatty() and is_terminal(sys.stderr)):
        raise ConfigError("there is no terminal to ask on", hint="read them; then add --yes")
    for module in modules:
        if yes:
            describe_module(module)
        if yes or confirm_module(module):
            _approve(module)
    for server in waiting:
        asked = approval_of(server)
        describe_server(server, asked)
        if yes or typer.confirm("Trust it as it is now?", default=False, err=True):
            _approve(asked)


def _approve(asked: Unapproved) -> None:
    approve(asked)
    note(f"approved {one_line(asked.name)} as it is now")


def describe_server(server: ServerSetting, asked: Unapproved) -> None:
    """Print what a person should know before trusting a server."""
    note(f"{one_line(str(server.source))} names the MCP server {server.name}.")
    if server.transport == "stdio":
        note("It would run with your rights, outside policy:")
    else:
        note("What its tools are called with goes there:")
    note(f"  {one_line(shown_server(server), 1_000)}")
    if server.cwd:
        note(f"  in {one_line(server.cwd)}")
    for what, names in (("variables of its own", server.env), ("headers", server.headers)):
        if names:
            note(f"  {what}: {one_line(', '.join(names))}")
    if server.env_file:
        note(f"  and those of {one_line(server.env_file)}")
    taken = sorted(set(references(server.texts())))
    if taken:
        note(f"  it is given yours: {one_line(', '.join(taken))}")
    for file in asked.files:
        note(f"  file {one_line(str(file))}")
    note(f"  sha256 {asked.sha256}")
