"""`lineshaft config trust`: approve what a project's file wants to start."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from lineshaft.cli._exit import USAGE
from lineshaft.cli._options import confirm_module, describe_module, settings_for, workspace_option
from lineshaft.cli._terminal import note, one_line, wrapped
from lineshaft.cli.servers import told_lines
from lineshaft.config import (
    Approval,
    ServerSetting,
    Settings,
    agent_of,
    agent_settings,
    approval_of,
    approve,
    guard_modules,
    pack_modules,
    server_approved,
    servers,
    tools,
    unapproved,
    unapproved_agents,
    unapproved_programs,
)
from lineshaft.errors import ConfigError
from lineshaft.tools import Toolset


@click.option("--yes", is_flag=True, help="Approve all of them; you have read them.")
@click.option(
    "--pack", metavar="PACK", help="Also the programs that the workspace names for a pack."
)
@workspace_option
def command(
    *,
    yes: bool,
    pack: str | None,
    workspace: Path | None,
) -> None:
    """Show each module, agent, server and program that waits for approval, and ask about it."""
    settings = settings_for(workspace)
    broken: list[tuple[str, ConfigError]] = []

    def faulty(name: str, error: ConfigError) -> None:
        broken.append((name, error))

    programs: tuple[Approval, ...] = ()
    if pack:
        programs = unapproved_programs(pack, settings.root.resolve(), faulty=faulty)
    modules = (
        *unapproved((*settings.modules, *guard_modules(settings), *pack_modules(settings))),
        *programs,
    )
    for agent in agent_settings(settings):
        if agent.fault:
            faulty(agent.name, agent.problem(agent.fault))
    agents = {each.name: each for each in unapproved_agents(settings, faulty=faulty)}
    found = servers(settings).servers
    waiting = [each for each in found if not each.problem and _waits(each)]
    if not (modules or agents or waiting or broken):
        note("nothing waits for approval")
    agreed = None
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        agreed = yes
    for module in modules:
        _settle(module, agreed=agreed)
    refused = bool(broken)
    for name, error in broken:
        _refuse(error, name)
    if agents:
        refused = not _approve_agents(settings, agents, agreed=agreed) or refused
    for server in waiting:
        try:
            asked = approval_of(server)
            describe_server(server, asked)
            asking = partial(click.confirm, "Trust it as it is now?", default=False, err=True)
            if asking() if agreed is None else agreed:
                _approve(asked)
        except ConfigError as error:
            _refuse(error, server.name)
            refused = True
    if (modules or agents or waiting) and agreed is False:
        raise ConfigError(
            "nothing is approved: there is no terminal to ask on",
            hint="read what stands above; then add --yes",
        )
    if refused:
        raise SystemExit(USAGE)


def _settle(asked: Approval, *, agreed: bool | None) -> None:
    """Show what a person should know of something, and approve it.

    Args:
        asked: What waits.
        agreed: What was said beforehand; None: the person is asked.
    """
    if agreed is not None:
        describe_module(asked)
    if confirm_module(asked) if agreed is None else agreed:
        _approve(asked)


def _approve_agents(
    settings: Settings, waiting: Mapping[str, Approval], *, agreed: bool | None
) -> bool:
    """Show each agent that could be used, and settle it; return whether all of them could."""
    if agreed is False:  # whether it could be used shows once the modules are approved
        for each in waiting.values():
            describe_module(each)
        return True
    try:
        offered = tools(settings, faulty=lambda _name, _error: None)
    except ConfigError as error:  # a module that its model would call
        _refuse(error)
        return False
    usable = True
    for agent in agent_settings(settings):
        if agent.name not in waiting:
            continue
        try:
            offered = offered.combine(Toolset([agent_of(agent, settings, offered)]))
        except ConfigError as error:
            _refuse(error, agent.name)
            usable = False
            continue
        _settle(waiting[agent.name], agreed=agreed)
    return usable


def _refuse(error: ConfigError, name: str = "") -> None:
    what = f"{one_line(name)}: {error.message}" if name else error.message
    note(f"not approved: {one_line(what, 1_000)}")
    if error.hint:
        note(f"  {one_line(error.hint, 1_000)}")


def _waits(server: ServerSetting) -> bool:
    try:
        return not server_approved(server)
    except ConfigError:  # said where it would be shown
        return True


def _approve(asked: Approval) -> None:
    approve(asked)
    note(f"approved {one_line(asked.name)} as it is now")


def describe_server(server: ServerSetting, asked: Approval) -> None:
    """Print all that a person approves of a server.

    Raises:
        ConfigError: It is longer than a person reads.
    """
    lines = told_lines(server, asked)
    note(f"{one_line(str(server.source), 4_096)} names the MCP server {server.name}.")
    if server.transport == "stdio":
        note("It would run with your rights, outside policy:")
    else:
        note("What its tools are called with goes there:")
    for line in lines:
        note(wrapped(line))
    note(f"  sha256 {asked.sha256}")
