"""`lineshaft config mcp import`: servers of other programs, brought into our own file."""

from collections.abc import Sequence
from pathlib import Path

import click

from lineshaft.cli._options import settings_for, workspace_option
from lineshaft.cli._terminal import note
from lineshaft.cli.servers import import_all, importable
from lineshaft.config import (
    FoundServers,
    ServerSetting,
    Settings,
    Target,
    client_servers,
    servers_in,
)
from lineshaft.errors import ConfigError


@click.argument("names", nargs=-1, help="Servers to bring in; all that can be if none is named.")
@click.option("--user", is_flag=True, help="Into your own file.")
@click.option("--project", is_flag=True, help="Into the project's file.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Only out of this file.",
)
@click.option("--as", "rename", metavar="NAME", help="Its name with us.")
@click.option("--accept-claims", is_flag=True, help="Let count what they say of their tools.")
@workspace_option
def command(
    *,
    names: tuple[str, ...],
    user: bool,
    project: bool,
    source: Path | None,
    rename: str | None,
    accept_claims: bool,
    workspace: Path | None,
) -> None:
    """Copy servers as they are described, and approve them."""
    if user and project:
        raise ConfigError("--user and --project exclude each other")
    target: Target | None = "user" if user else "project" if project else None
    settings = settings_for(workspace)
    chosen = _named(settings, names, source) if names else _all(settings, source)
    if rename is not None and len(chosen) != 1:
        raise ConfigError("--as names one server", hint="name the one that is meant")
    if not chosen:
        note("there is nothing to import")
    import_all(
        chosen,
        lambda: settings_for(workspace),
        target=target,
        name=rename,
        accept_claims=accept_claims,
        strict=bool(names),
    )


def _all(settings: Settings, source: Path | None) -> list[ServerSetting]:
    chosen, said = importable(_found(settings, source))
    for each in said:
        note(each)
    return chosen


def _named(settings: Settings, names: Sequence[str], source: Path | None) -> list[ServerSetting]:
    """Return the servers of the names, the first of each."""
    there = _found(settings, source).servers
    chosen: list[ServerSetting] = []
    for name in names:
        match = next((each for each in there if name in (each.name, each.label)), None)
        if match is None:
            known = ", ".join(dict.fromkeys(each.name for each in there))
            raise ConfigError(f"no server {name!r} was found", hint=f"found: {known or 'none'}")
        chosen.append(match)
    return chosen


def _found(settings: Settings, source: Path | None) -> FoundServers:
    if source is None:
        return client_servers(settings)
    servers = servers_in(source, settings)
    if not servers:
        raise ConfigError(
            f"{str(source)!r} describes no servers",
            hint="looked for: mcpServers or servers, in a file that ends in .toml mcp_servers",
        )
    return FoundServers(servers=servers)
