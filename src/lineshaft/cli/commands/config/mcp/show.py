"""`lineshaft config mcp`: the MCP servers that were found."""

import json as json_module
import sys
from itertools import groupby
from pathlib import Path

import click

from lineshaft.cli._options import json_option, settings_for, workspace_option
from lineshaft.cli._terminal import note, one_line, paint, say
from lineshaft.cli.servers import Row, client_rows, own_rows, row_lines
from lineshaft.config import BrokenFile, Settings, keep_claims


@click.option(
    "--accept-claims", is_flag=True, help="Let count what our servers say of their tools."
)
@workspace_option
@json_option
def command(
    *,
    accept_claims: bool,
    workspace: Path | None,
    json: bool,
) -> None:
    """Show our servers, and those in files of other programs."""
    settings = settings_for(workspace)
    own = list(own_rows(settings))
    if accept_claims:
        accept_all(own)
    found, broken = client_rows(settings)
    if json:
        facts = {
            "servers": [row.facts() for row in own],
            "found": [row.facts() for row in found],
            "broken": [{"file": str(b.file.path), "problem": b.problem} for b in broken],
        }
        text = json_module.dumps(facts, ensure_ascii=False)
        # Halves of characters, which a file may hold and no output takes, stay as JSON writes them.
        say(text.encode("utf-8", "backslashreplace").decode())
        return
    _tell(settings, own, found, broken)


def _file(row: Row) -> Path:
    return row.server.source


def accept_all(rows: list[Row]) -> None:
    """Accept the claims of servers, as they are when next heard."""
    for row in rows:
        if row.state in ("ready", "unapproved") and row.server.claims is None:
            keep_claims(row.server, "accept")


def _tell(
    settings: Settings, own: list[Row], found: list[Row], broken: tuple[BrokenFile, ...]
) -> None:
    for rows in (own, found):
        by_file = sorted(rows, key=_file) if rows is own else rows
        for source, group in groupby(by_file, key=_file):
            listed = list(group)
            client = f" ({listed[0].server.client})" if listed[0].server.client else ""
            say(paint(one_line(f"{source}{client}"), "bold", stream=sys.stdout))
            for line in row_lines(listed):
                say(line)
    for each in broken:
        note(f"{paint('warning', 'yellow')}: {one_line(each.problem)}")
    if not own and not found:
        note("no MCP servers were found; [mcp.servers.NAME] in lineshaft.toml describes one")
    new = sum(row.state == "new" for row in found)
    if new:
        note(paint(f"`lineshaft config mcp import` brings in {new} of them", "dim"))
    if settings.project is None and not own and new:
        note(paint("`lineshaft init --import-mcp` does so too", "dim"))
