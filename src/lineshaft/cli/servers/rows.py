"""MCP servers as a person sees them: which there are, where from, and what keeps them down."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Literal

from lineshaft.cli._terminal import one_line
from lineshaft.config import (
    BrokenFile,
    ServerSetting,
    Settings,
    client_servers,
    kept_claims,
    references,
    server_approved,
    servers,
    shown_server,
    standing,
)
from lineshaft.errors import ConfigError
from lineshaft.values import Struct

State = Literal["ready", "unapproved", "new", "imported", "other", "disabled", "broken"]

STATES: Mapping[State, str] = {
    "ready": "ready",
    "unapproved": "not approved",
    "new": "not imported",
    "imported": "imported",
    "other": "name taken",
    "disabled": "switched off there",
    "broken": "cannot be used",
}


class Row(Struct, frozen=True, kw_only=True):
    """One server."""

    server: ServerSetting
    state: State
    problem: str = ""

    @property
    def claims(self) -> str:
        """Return what was answered to its claims, in a word."""
        if self.server.claims is not None:
            return self.server.claims
        if self.server.problem:
            return ""
        try:
            kept = kept_claims(self.server)
        except ConfigError:
            kept = None
        if kept is None:
            return ""
        return kept.answer if isinstance(kept.answer, str) else "edited"

    def facts(self) -> dict[str, object]:
        """Return what a program may know; no secrets."""
        server = self.server
        return {
            "name": server.name,
            "label": server.label or server.name,
            "state": self.state,
            "problem": self.problem,
            "file": str(server.source),
            "client": server.client or None,
            "transport": server.transport,
            "runs": shown_server(server),
            "variables": sorted(set(references(server.texts()))),
            "claims": self.claims or None,
            "unknown_keys": list(server.rest),
        }


def own_rows(settings: Settings) -> Iterator[Row]:
    """Yield the servers whose tools are to be offered."""
    for server in servers(settings).servers:
        if server.problem:
            yield Row(server=server, state="broken", problem=server.problem)
            continue
        try:
            approved = server_approved(server)
        except ConfigError as error:
            yield Row(server=server, state="broken", problem=error.message)
            continue
        hint = "" if approved else "read it, then run `lineshaft config trust`"
        yield Row(server=server, state="ready" if approved else "unapproved", problem=hint)


def client_rows(settings: Settings) -> tuple[list[Row], tuple[BrokenFile, ...]]:
    """Return the servers in files of other programs, and the files that cannot be read."""
    found = client_servers(settings)
    used = {(each.source, each.name) for each in servers(settings).servers}
    rows = [
        _client_row(server, settings)
        for server in found.servers
        if (server.source, server.name) not in used and not server.is_lineshaft
    ]
    return rows, found.broken


def _client_row(server: ServerSetting, settings: Settings) -> Row:
    if server.problem:
        return Row(server=server, state="broken", problem=server.problem)
    match standing(server, settings):
        case "same":
            return Row(server=server, state="imported")
        case "other":
            words = ["lineshaft", "config", "mcp", "import", server.name]
            words += ["--from", str(server.source), "--as", "NAME"]
            hint = f"`{shlex.join(words)}`"
            return Row(server=server, state="other", problem=hint)
        case "new":
            return Row(server=server, state="disabled" if server.disabled else "new")


def row_lines(rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a table, and below a server what keeps it down."""
    width = max((len(row.server.name) for row in rows), default=0)
    states = max((len(STATES[row.state]) for row in rows), default=0)
    for row in rows:
        server = row.server
        claims = f"  claims: {row.claims}" if row.claims else ""
        yield (
            f"  {server.name:<{width}}  {STATES[row.state]:<{states}}  {server.transport:<5}  "
            f"{one_line(shown_server(server), 100)}{claims}"
        )
        if row.problem:
            yield f"  {'':<{width}}  {one_line(row.problem)}"
