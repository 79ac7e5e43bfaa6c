"""`lineshaft init`: a settings file to start from."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from lineshaft.cli._ahead import make_ahead
from lineshaft.cli._shape import counted
from lineshaft.cli._terminal import note, one_line, paint, wrapped
from lineshaft.cli.servers import import_all, importable, not_yet_ours, told_lines
from lineshaft.config import (
    KEYS,
    PROJECT_FILE,
    Key,
    ServerSetting,
    client_servers,
    read_settings,
)
from lineshaft.errors import ConfigError

_HEAD = """\
# Settings of Lineshaft for this folder and all below it.
# Take the # from a line that begins with one and no space; most show what holds without it.
# `lineshaft config show` says what holds and where it comes from.
"""

_EXAMPLES = {
    "tools.modules": 'modules = ["./tools.py"]',
    "workspace.aliases": 'aliases = {pkg = "vendor", out = {path = "build", writable = true}}',
    "workspace.pass_environment": 'pass_environment = ["CI"]',
    "fetch.allow": 'allow = ["localhost:8000"]',
    "python.path": 'path = "/opt/python"',
    "python.packages": 'packages = ["pandas"]',
    "python.preload": 'preload = ["json"]',
    "python.boundary": 'boundary = "bubblewrap"',
    "store.url": 'url = "runs.db"',
    "guards.modules": 'modules = ["./guards.py"]',
    "guards.plugins": "plugins = []",
    "tools.packs": "packs = []",
    "guards.companion": """\
[[guards.companion]]
changed = "src/**/*.py"
needs = "tests/**"
level = "warning"\
""",
    "agents": """\
[agents.summary]
instructions = "Say in one sentence what the text is about."
result = {type = "string"}
model = "openai:gpt-5-mini"\
""",
    "mcp.servers": """\
[mcp.servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env = {GITHUB_TOKEN = "${GITHUB_TOKEN}"}\
""",
    "eval.prices": """\
[eval.prices]
date = "2026-11-01"
models = {"openai:gpt-5-mini" = [0.25, 2.0]}\
""",
    "serve.direct": 'direct = ["github.list_issues"]',
    "policy.rules": """\
[[policy.rules]]
id = "no-secrets"
tool = "read_file"
path = "secrets/**"
verdict = "deny"
reason = "secrets stay with people"\
""",
}
"""Where an example says more than the default."""


@click.argument(
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="[FOLDER]",
    help="Where to write it; here if left out.",
)
@click.option(
    "--import-mcp/--no-import-mcp",
    default=None,
    help="Bring in the MCP servers of other programs; asked on a terminal.",
)
@click.option("--accept-claims", is_flag=True, help="Let count what they say of their tools.")
def command(
    *,
    folder: Path,
    import_mcp: bool | None,
    accept_claims: bool,
) -> None:
    """Write a commented lineshaft.toml; a file that is there stays as it is."""
    _write(folder, keeps=bool(import_mcp))
    settings = read_settings(folder)
    servers, said = importable(client_servers(settings))
    servers = not_yet_ours(servers, settings)
    for each in said if import_mcp else ():
        note(each)
    if import_mcp is None:
        import_mcp = _wants(servers)
    ahead = make_ahead()
    if ahead.state != "ok":
        note(ahead.text)
    if import_mcp:
        import_all(servers, lambda: read_settings(folder), accept_claims=accept_claims)
        note("`lineshaft tools` lists them; give your client the command `lineshaft serve`")
    else:
        note('try:\n  lineshaft run -c "return 1 + 1"')


def _wants(servers: Sequence[ServerSetting]) -> bool:
    """Ask whether to bring servers in, where a person can answer."""
    if not servers:
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        found = f"{counted(len(servers), 'MCP server')} found"
        note(f"{found}: `lineshaft config mcp import` brings them in")
        return False
    for server in servers:
        place = one_line(str(server.source))
        note(f"{server.name}  {paint(place, 'dim')}")
        for line in _told(server):
            note(wrapped(line))
    question = f"Bring in {counted(len(servers), 'MCP server')}, and trust them as they are?"
    return click.confirm(question, default=False, err=True)


def _told(server: ServerSetting) -> list[str]:
    try:
        return told_lines(server)
    except ConfigError as error:  # the import refuses it
        return [f"  {one_line(error.message, 1_000)}"]


def _write(folder: Path, *, keeps: bool) -> None:
    """Write the settings file; where there is one, it may be kept as it is."""
    path = folder / PROJECT_FILE
    # A table in pyproject.toml counts as settings too; two of them would be refused later.
    held = read_settings(folder).project
    if held is not None and held.parent == folder.absolute():
        if keeps:
            return
        raise ConfigError(f"{str(held)!r} holds settings already; it stays as it is")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError as error:
        raise ConfigError(f"{str(path)!r} exists already; it stays as it is") from error
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    note(f"wrote {path}")


def template() -> str:
    """Return the text of a settings file in which every setting is explained."""
    parts = [_HEAD]
    table = ""
    for key in KEYS.values():
        head, _, leaf = key.name.partition(".")
        if head != table:
            table = head
            parts.append(f"\n[{table}]\n" if leaf else "\n")  # a table of tables is not begun
        parts.append(_explained(key, leaf))
    return "".join(parts)


def _explained(key: Key, leaf: str) -> str:
    example = _EXAMPLES.get(key.name, f"{leaf} = {_toml(key.default)}")
    commented = "".join(f"#{line}\n" for line in example.splitlines())
    return f"# {key.text} Allowed: {key.allowed}.\n{commented}"


def _toml(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case int():
            return str(value)
        case list():
            return f"[{', '.join(map(_toml, cast('list[object]', value)))}]"
        case _:
            return f'"{value}"'
