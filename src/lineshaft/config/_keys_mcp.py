"""The settings of MCP, in and out: which servers there are, and how we are one."""

import re
from pathlib import Path

from lineshaft.config._key import Key, choice, is_texts, json_or_text, number
from lineshaft.config.definitions import own_servers
from lineshaft.errors import ConfigError

SERVERS = "mcp.servers"
TOKEN = "LINESHAFT_SERVE_TOKEN"  # noqa: S105  the name of a variable
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOST = re.compile(r"[A-Za-z0-9._:%-]{1,255}")


def servers_problem(value: object) -> str:
    """Return what is wrong with the servers of one of our own files; nothing if all is well."""
    try:
        own_servers(value, source=Path(), giver="user", base=Path())
    except ConfigError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return ""


MCP_KEYS = (
    Key(
        name="mcp.clients",
        allowed="true or false",
        accepts=lambda value: isinstance(value, bool),
        default=False,
        text="Whether approved servers in files of MCP clients are offered without an import; "
        "a project cannot set it.",
        from_text=json_or_text,
    ),
    Key(
        name=SERVERS,
        allowed="tables: [mcp.servers.NAME] with command and args, or url",
        accepts=lambda value: isinstance(value, dict),
        problem=servers_problem,
        default={},
        text="MCP servers whose tools are offered, as NAME.tool.",
    ),
    Key(
        name="serve.direct",
        allowed='a list of names and globs: ["github.list_issues", "memory.*"]',
        accepts=is_texts,
        default=[],
        text="Tools that clients of `lineshaft serve` may also call without a script.",
    ),
    choice(
        "serve.approvals",
        ("person", "client"),
        "person",
        "Who answers what policy asks: a person, or whoever confirms the calls of the client; "
        "a project cannot set it.",
    ),
    Key(
        name="serve.host",
        allowed="a host name or address",
        accepts=lambda value: isinstance(value, str) and bool(_HOST.fullmatch(value)),
        default="127.0.0.1",
        text="Where `lineshaft serve --http` listens; a project cannot set it.",
        from_text=str,
    ),
    number("serve.port", 0, 65_535, 8_765, "The port of it; a project cannot set it."),
    Key(
        name="serve.token_env",
        allowed="the name of a variable",
        accepts=lambda value: bool(_VARIABLE.fullmatch(value)) if isinstance(value, str) else False,
        default=TOKEN,
        text="The variable with the token that its clients must show; a project cannot set it.",
        from_text=str,
    ),
)
