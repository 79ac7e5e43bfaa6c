"""All configured servers, and those of them that may be started.

Own files come first: `[mcp.servers.NAME]` of the person, who is trusted, then of the project. Files
of MCP clients count where `mcp.clients` says so. What a project or a client names starts only once
a person has approved it as it is.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from msgspec.structs import replace

from lineshaft.config._keys import SERVERS
from lineshaft.config._settings import Settings
from lineshaft.config._trust import Approval, hash_with_files, is_approved
from lineshaft.config.clients import BrokenFile, ClientFile, client_files, read_client_file
from lineshaft.config.definitions import ClaimsRule, ServerSetting, files_of, own_servers
from lineshaft.errors import ConfigError
from lineshaft.tools import script_name
from lineshaft.values import Struct

WINDOW = "window"
"""The namespace of the tools that the window of a workspace offers."""

_MOST_BYTES = 50_000_000
_MOST_BYTES_OF_ALL = 200_000_000


class FoundServers(Struct, frozen=True, kw_only=True):
    """The servers found, and the files that could not be read."""

    servers: tuple[ServerSetting, ...] = ()
    broken: tuple[BrokenFile, ...] = ()


def servers(settings: Settings, *, environ: Mapping[str, str] | None = None) -> FoundServers:
    """Return the servers whose tools are to be offered, by the order of their names.

    Args:
        settings: What `read_settings` settled.
        environ: Variables that say where clients keep their files.

    Raises:
        ConfigError: A project's file says what only a person may.
    """
    own = own_settings_servers(settings)
    own = (*own, *_of_window(settings, own))
    if not settings.own("mcp.clients").value:
        return FoundServers(servers=own)
    found = client_servers(settings, environ=environ)
    taken = {script_name(server.name) for server in own if not server.problem}
    first: dict[str, ServerSetting] = {}
    # A project takes no name away from what is the person's, nor what cannot start from what can.
    for server in sorted(found.servers, key=lambda each: (bool(each.problem), each.of_project)):
        name = script_name(server.name)
        if not server.disabled and not server.is_lineshaft and name not in taken:
            first.setdefault(name, server)
    return FoundServers(servers=_sorted((*own, *first.values())), broken=found.broken)


def _of_window(settings: Settings, others: Iterable[ServerSetting]) -> tuple[ServerSetting, ...]:
    """Return what the window of the workspace offers; nothing where there is none."""
    globs = cast("list[str]", settings.own("workspace.window_tools").value)
    if not settings.in_editor or not globs:
        return ()
    rule = settings.own("workspace.window_claims").value
    taken = any(script_name(each.name) == WINDOW for each in others)
    window = ServerSetting(
        name=WINDOW,
        giver="user",
        source=Path(settings.setting("workspace.root").source),
        base=settings.root,
        transport="window",
        cwd=str(settings.root.resolve()),
        include=() if globs == ["*"] else tuple(globs),
        claims=None if rule == "ask" else cast("ClaimsRule", rule),
        problem=f"you have a server that is named {WINDOW!r}" if taken else "",
    )
    return (window,)


def own_settings_servers(settings: Settings) -> tuple[ServerSetting, ...]:
    """Return the servers of our own files, the person's and the project's.

    Raises:
        ConfigError: A project's file says what only a person may.
    """
    by_name: dict[str, ServerSetting] = {}
    for server in _own(settings):
        name = script_name(server.name)
        mine = by_name.get(name)
        if mine is None:
            by_name[name] = server
        elif mine.definition != server.definition:
            problem = f"{str(mine.source)!r} has a server of this name already, and yours is used"
            by_name[f"{name} of the project"] = replace(server, problem=problem)
    return _sorted(by_name.values())


def _own(settings: Settings) -> Iterator[ServerSetting]:
    for held in reversed(settings.values[SERVERS]):
        if held.giver not in ("project", "user"):
            continue
        is_project = held.giver == "project"
        for server in own_servers(
            held.value,
            source=Path(held.source),
            giver="project" if is_project else "user",
            base=held.base if is_project else settings.root,
        ):
            if is_project:
                _check_a_projects(server)
            yield server


def _check_a_projects(server: ServerSetting) -> None:
    place = f"{server.source}: {SERVERS}.{server.name}"
    if server.claims == "accept":
        raise ConfigError(
            f"{place}.claims is not for a project's file",
            hint="accept them yourself: `lineshaft config mcp claims NAME --accept`",
        )
    if "assertion_command" in server.auth:
        raise ConfigError(
            f"{place}.auth: assertion_command is not for a project's file: it starts a program",
            hint="put the server into your own settings, or give assertion or assertion_file",
        )


def client_servers(settings: Settings, *, environ: Mapping[str, str] | None = None) -> FoundServers:
    """Return the servers in files of MCP clients, the project's first, each file in its order.

    Args:
        settings: Where we are.
        environ: Variables that say where those files are.
    """
    found: list[ServerSetting] = []
    broken: list[BrokenFile] = []
    for file in client_files(settings.start, environ=environ):
        try:
            found += read_client_file(file, base=settings.root)
        except ConfigError as error:
            broken.append(BrokenFile(file=file, problem=error.message))
    return FoundServers(servers=tuple(found), broken=tuple(broken))


def servers_in(path: Path, settings: Settings) -> tuple[ServerSetting, ...]:
    """Return the servers of one file of a client, wherever it lies.

    Args:
        path: The file.
        settings: Where we are.

    Raises:
        ConfigError: It cannot be read.
    """
    real = os.path.realpath(path)
    for file in client_files(settings.start):
        if os.path.realpath(file.path) == real:
            return read_client_file(file, base=settings.root)
    inside = Path(real).is_relative_to(os.path.realpath(settings.root))
    file = ClientFile(client="", path=path.absolute(), project=settings.root if inside else None)
    return read_client_file(file, base=settings.root)


def approval_of(server: ServerSetting) -> Approval:
    """Return what a person approves of a server, as it is now.

    Raises:
        ConfigError: A program of the project that it names cannot be read.
    """
    files = files_of(server)
    said = json.dumps(server.definition, sort_keys=True)
    return Approval(
        project=server.source,
        name=server.name,
        sha256=hash_with_files(said, files, each=_MOST_BYTES, all_of_them=_MOST_BYTES_OF_ALL),
        files=files,
        kind="server",
        of_project=server.of_project,
    )


def server_approved(server: ServerSetting, *, environ: Mapping[str, str] | None = None) -> bool:
    """Return whether a server may be started: it is the person's own, or approved as it is.

    Raises:
        ConfigError: Approvals, or a program of the project, cannot be read.
    """
    return server.giver == "user" or is_approved(approval_of(server), environ=environ)


def _sorted(found: Iterable[ServerSetting]) -> tuple[ServerSetting, ...]:
    return tuple(sorted(found, key=lambda server: (server.name, server.problem)))
