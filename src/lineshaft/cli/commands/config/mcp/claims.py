"""`lineshaft config mcp claims`: what servers say of their tools, and what of it counts."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import click

from lineshaft.cli._carry import carry
from lineshaft.cli._offer import starting_for
from lineshaft.cli._options import settings_for, workspace_option
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, one_line, paint, say
from lineshaft.config import (
    ClaimsAnswer,
    Down,
    ServerSetting,
    keep_claims,
    provider_for,
    servers,
)
from lineshaft.errors import ConfigError
from lineshaft.mcp import Claim
from lineshaft.mcp.client import McpServer
from lineshaft.remote.offered import WindowTools
from lineshaft.values import Effect


@click.argument("names", nargs=-1, help="Servers; all of ours if none is named.")
@click.option("--accept", is_flag=True, help="All that they say counts.")
@click.option("--external", is_flag=True, help="Nothing that they say counts: each call asks.")
@workspace_option
def command(
    *,
    names: tuple[str, ...],
    accept: bool,
    external: bool,
    workspace: Path | None,
) -> None:
    """Start servers, show what they claim, and keep the answer until that changes."""
    if accept and external:
        raise ConfigError("--accept and --external exclude each other")
    settings = settings_for(workspace)
    chosen = _chosen(servers(settings).servers, names)
    if not chosen:
        note("there are no servers of ours; `lineshaft config mcp` shows those that were found")
    starting = starting_for()
    made = [provider_for(server, settings, starting) for server in chosen]
    carry(partial(_catalogues, made))
    answer: ClaimsAnswer | None = "accept" if accept else "external" if external else None
    there: list[tuple[ServerSetting, Sequence[Claim]]] = []
    for server, source in zip(chosen, made, strict=True):
        if isinstance(source, Down) or not source.catalogue_hash:
            note(f"{server.name} is not there: {one_line(source.problem, 500)}")
        else:
            there.append((server, source.claims))
    _settle(there, answer)


def _chosen(found: Sequence[ServerSetting], names: Sequence[str]) -> list[ServerSetting]:
    usable = [server for server in found if not server.problem]
    known = {server.name for server in usable}
    for name in names:
        if name not in known:
            raise ConfigError(
                f"no server {name!r} is ours", hint=f"ours: {', '.join(known) or 'none'}"
            )
    return [server for server in usable if not names or server.name in names]


async def _catalogues(made: Sequence[McpServer | WindowTools | Down]) -> None:
    """Let each list its tools, once."""

    async def once(source: McpServer | WindowTools | Down) -> None:
        async with source.opened(lambda: None):
            await source.ready()

    async with anyio.create_task_group() as group:
        for source in made:
            group.start_soon(once, source)


def _settle(
    there: Sequence[tuple[ServerSetting, Sequence[Claim]]], answer: ClaimsAnswer | None
) -> None:
    """Show what all servers say as one list, and keep one answer to all of it."""
    open_: list[tuple[ServerSetting, Sequence[Claim]]] = []
    first = 1
    for server, claims in there:
        for line in claim_lines(server, claims, first=first):
            say(line)
        if server.claims is not None:
            note(f"{one_line(str(server.source))} says claims = {server.claims!r}; that holds")
        else:
            open_.append((server, claims))
        first += len(claims)
    if not open_:
        return
    numbered = [claim for _, claims in there for claim in claims]
    if answer is None and sys.stdin.isatty() and sys.stderr.isatty():
        answer = _asked(numbered)
    if answer is None:
        note("nothing was answered; --accept and --external do so without a terminal")
        return
    for server, claims in open_:
        own = {claim.tool for claim in claims}
        said: ClaimsAnswer = (
            answer
            if isinstance(answer, str)
            else {tool: effect for tool, effect in answer.items() if tool in own}
        )
        keep_claims(server, said, claims=claims)
        kept = said if isinstance(said, str) else f"{counted(len(said), 'tool')} accepted"
        note(f"{paint('kept', 'green')}: {server.name}: {kept}, each tool until it changes")


def claim_lines(server: ServerSetting, claims: Sequence[Claim], *, first: int = 1) -> list[str]:
    """Return what a server says of its tools, as one list, numbered from `first` on."""
    lines = [paint(f"{server.name} says of its {counted(len(claims), 'tool')}:", "bold")]
    for number, claim in enumerate(claims, first):
        flags = [
            "only reads" if claim.effect == "read" else "acts",
            *(["destructive"] if claim.destructive else []),
            *(["may be repeated"] if claim.idempotent and claim.effect != "read" else []),
        ]
        lines.append(f"  {number:>3}. {one_line(claim.tool, 80)}: {', '.join(flags)}")
    return lines


def _asked(claims: Sequence[Claim]) -> ClaimsAnswer | None:
    """Ask which claims count: all, none, or those of some tools."""
    note("What only reads runs without asking in mode auto; nothing vouches for what is said.")
    while True:
        text = click.prompt(
            "Does it count? [y: all, n: none, 1 3: for these, l: later]", default="l", err=True
        )
        match text.strip().casefold():
            case "y" | "yes":
                return "accept"
            case "n" | "no":
                return "external"
            case "l" | "later":
                return None
            case words:
                numbers = words.replace(",", " ").split()
        if numbers and all(n.isdecimal() and 0 < int(n[:6]) <= len(claims) for n in numbers):
            some: dict[str, Effect] = {}
            for number in numbers:
                claim = claims[int(number) - 1]
                some[claim.tool] = claim.effect
            return some
        note(f"numbers from 1 to {len(claims)}, y, n or l")
