"""Bringing servers in, for `config mcp import` and `init`."""

from collections.abc import Callable, Sequence

from lineshaft.cli._terminal import note, one_line, paint, wrapped
from lineshaft.cli.servers.approval import told_lines
from lineshaft.config import (
    FoundServers,
    Imported,
    ServerSetting,
    Settings,
    Target,
    approval_of,
    import_server,
    keep_claims,
    secrets_file,
    standing,
)
from lineshaft.errors import ConfigError


def importable(found: FoundServers) -> tuple[list[ServerSetting], list[str]]:
    """Return the servers that can be brought in, and what is to be said of others."""
    said = [f"{paint('warning', 'yellow')}: {one_line(each.problem)}" for each in found.broken]
    chosen: list[ServerSetting] = []
    for server in found.servers:
        if server.is_lineshaft or server.disabled:
            continue
        if server.problem:
            place = f"{server.name} in {server.source}"
            said.append(f"left out: {one_line(place)}: {one_line(server.problem)}")
        else:
            chosen.append(server)
    return chosen, said


def not_yet_ours(chosen: Sequence[ServerSetting], settings: Settings) -> list[ServerSetting]:
    """Return the servers that our own files do not have."""
    return [server for server in chosen if standing(server, settings) == "new"]


def import_all(
    chosen: Sequence[ServerSetting],
    settings: Callable[[], Settings],
    *,
    target: Target | None = None,
    name: str | None = None,
    accept_claims: bool = False,
    strict: bool = False,
) -> None:
    """Import servers, and report on each.

    Args:
        chosen: What to bring in, in order.
        settings: Reads what holds, again after each.
        target: Whose file they go to.
        name: What to call the one that is brought in.
        accept_claims: Whether what they say of their tools counts from the first time.
        strict: Whether one that cannot be brought in is an error.

    Raises:
        ConfigError: One cannot be brought in, and was asked for by name.
    """
    added = 0
    for server in chosen:
        try:
            told_lines(server)  # a definition too long to read is not approved
            done = import_server(server, settings(), target=target, name=name)
        except ConfigError as error:
            if strict:
                raise
            note(f"left out: {one_line(error.message)}")
            if error.hint:
                note(f"  {one_line(error.hint)}")
            continue
        if accept_claims:
            keep_claims(done.server, "accept")
        added += done.is_new
        _tell(done, server)
    if added:
        _tell_what_next(added, accept_claims=accept_claims)


def _tell(done: Imported, found: ServerSetting) -> None:
    """Report on a server: all of it as it was found, since that was approved."""
    server = done.server
    if not done.is_new:
        note(f"{server.name} is in {one_line(str(server.source))} already")
        return
    note(f"{paint('added', 'green')} {server.name}:")
    for line in told_lines(found, approval_of(server) if server.of_project else None):
        note(wrapped(line))
    note(paint(f"  to {one_line(str(server.source))}, and approved as it is", "dim"))
    if done.secrets:
        names = ", ".join(done.secrets)
        note(f"  {names}: written out there, now in {one_line(str(secrets_file()))} (0600)")


def _tell_what_next(added: int, *, accept_claims: bool) -> None:
    if not accept_claims:
        note(
            f"what {'it says of its' if added == 1 else 'they say of their'} tools does not count "
            "yet, so each call asks; `lineshaft config mcp claims` shows it and asks once"
        )
