"""`lineshaft serve`: the configured tools as an MCP server."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from lineshaft.cli._ahead import announce
from lineshaft.cli._carry import carry
from lineshaft.cli._offer import offered_for
from lineshaft.cli._options import (
    accept_claims_option,
    engine_option,
    guards_for,
    limit_option,
    mode_option,
    settings_for,
    tools_option,
    workspace_option,
)
from lineshaft.cli._records import store_for
from lineshaft.cli._terminal import note
from lineshaft.config import ToolCounts, build, serve_settings
from lineshaft.errors import ConfigError
from lineshaft.mcp.front import Front, HttpOptions, serve_http, serve_stdio
from lineshaft.session import Session


@click.option("--http", is_flag=True, help="Serve over HTTP, not on standard input and output.")
@click.option("--host", metavar="HOST", help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(min=0, max=65_535), metavar="N", help="0: any that is free."
)
@click.option("--token-env", metavar="NAME", help="The variable with the token of HTTP.")
@click.option(
    "--direct", multiple=True, metavar="GLOB", help="A tool to offer without a script, or a glob."
)
@click.option(
    "--pass",
    "passed",
    default="",
    metavar="NAME",
    help="A server whose tools, resources and prompts pass through.",
)
@click.option(
    "--client-approves", is_flag=True, help="The client confirms each call with its person."
)
@tools_option
@engine_option
@mode_option
@limit_option
@workspace_option
@accept_claims_option
def command(
    *,
    http: bool,
    host: str | None,
    port: int | None,
    token_env: str | None,
    direct: tuple[str, ...],
    passed: str,
    client_approves: bool,
    tools: tuple[str, ...],
    engine: str | None,
    mode: str | None,
    limit: tuple[str, ...],
    workspace: Path | None,
    accept_claims: bool,
) -> None:
    """Offer the tools to an MCP client, behind `search`, `describe` and `run`."""
    settings = settings_for(workspace, tools=tools, engine=engine, mode=mode, limits=limit)
    said = serve_settings(settings)
    options = None
    of_http = {"--host": host, "--port": port, "--token-env": token_env}
    given = next((option for option, value in of_http.items() if value is not None), None)
    if given and not http:
        raise ConfigError(f"{given} is for HTTP alone", hint=f"add --http, or leave out {given}")
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
    tell_idle = _idle_globs(session, front)
    session.watch(tell_idle)
    if not http:
        front.put_off()  # the client waits for its first answer
    if not http and sys.stdin.isatty():
        note("serving MCP on standard input and output; an MCP client should start this command")
    announce()
    with suppress(KeyboardInterrupt):  # to be told to end is how it ends
        carry(lambda: _serve(session, front, options, tell_idle))


def _idle_globs(session: Session, front: Front) -> Callable[[], None]:
    """Return what says, once all servers are there or down, which direct tools there are not."""
    told = set[str]()

    def look() -> None:
        if any(not provider.tools and not provider.problem for provider in session.providers):
            return
        for glob in front.idle_globs:
            if glob not in told:
                told.add(glob)
                note(f"no tool is named {glob!r}: nothing is offered for it without a script")

    return look


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


async def _serve(
    session: Session, front: Front, options: HttpOptions | None, tell_idle: Callable[[], None]
) -> None:
    async with session:
        if not session.providers:
            tell_idle()
        if options is None:
            await serve_stdio(front)
        else:
            await serve_http(front, options, ready=lambda at: note(f"serving MCP at {at}"))
