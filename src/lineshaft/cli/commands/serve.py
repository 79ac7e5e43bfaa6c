"""`lineshaft serve`: the configured tools as an MCP server."""

import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from lineshaft.cli._ahead import announce
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import offered_for
from lineshaft.cli._options import (
    AcceptClaims,
    Engine,
    Limit,
    Mode,
    Tools,
    Workspace,
    guards_for,
    settings_for,
)
from lineshaft.cli._records import store_for
from lineshaft.cli._terminal import note
from lineshaft.config import ToolCounts, build, serve_settings
from lineshaft.errors import ConfigError
from lineshaft.mcp.front import Front, HttpOptions, serve_http, serve_stdio
from lineshaft.session import Session


def command(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, not on standard input and output.")
    ] = False,
    host: Annotated[
        str | None, typer.Option("--host", help="Where to listen.", metavar="HOST")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", help="0: any that is free.", metavar="N", min=0, max=65_535),
    ] = None,
    token_env: Annotated[
        str | None,
        typer.Option("--token-env", help="The variable with the token of HTTP.", metavar="NAME"),
    ] = None,
    direct: Annotated[
        list[str] | None,
        typer.Option(
            "--direct", help="A tool to offer without a script, or a glob.", metavar="GLOB"
        ),
    ] = None,
    passed: Annotated[
        str,
        typer.Option("--pass", help="A server whose tools, resources and prompts pass through."),
    ] = "",
    client_approves: Annotated[
        bool,
        typer.Option("--client-approves", help="The client confirms each call with its person."),
    ] = False,
    tools: Tools = None,
    engine: Engine = None,
    mode: Mode = None,
    limit: Limit = None,
    workspace: Workspace = None,
    accept_claims: AcceptClaims = False,
) -> None:
    """Offer the tools to an MCP client, behind `search`, `describe` and `run`."""
    settings = settings_for(workspace, tools=tools, engine=engine, mode=mode, limits=limit)
    said = serve_settings(settings)
    options = None
    if http:
        name = token_env or said.token_env
        options = _http(host or said.host, said.port if port is None else port, name)
    offered = offered_for(settings, accept_claims=accept_claims, at_once=True)
    session = build(
        settings,
        toolset=offered.all,
        secrets=offered.secrets,
        guards=guards_for(settings),
        store=store_for(settings),
    )
    counts = ToolCounts()
    front = Front(
        session,
        direct=direct or said.direct,
        approvals="client" if client_approves else said.approvals,
        passed=passed,
        known=counts.known,
    )
    session.watch(lambda: counts.keep(session.namespaces()))
    if not http:
        front.put_off()  # the client waits for its first answer
    if not http and sys.stdin.isatty():
        note("serving MCP on standard input and output; an MCP client should start this command")
    announce()
    with suppress(KeyboardInterrupt):  # to be told to end is how it ends
        carry(lambda: _serve(session, front, options))


def _http(host: str, port: int, variable: str) -> HttpOptions:
    """Return where to listen; without a token in the environment, one is made and printed."""
    token = os.environ.get(variable)
    if token:
        return HttpOptions(host=host, port=port, token=token)
    if token is not None:
        raise ConfigError(f"the variable {variable} is empty", hint="put a token there")
    made = HttpOptions(host=host, port=port)
    note(f"token (set {variable} to choose it): {made.token}")
    return made


async def _serve(session: Session, front: Front, options: HttpOptions | None) -> None:
    async with session:
        if options is None:
            await serve_stdio(front)
        else:
            await serve_http(front, options, ready=lambda at: note(f"serving MCP at {at}"))
