"""The built-in tools: files, search, commands, Python programs; where asked for, the web.

Above: host code that gives them to a session. Below: `values.Workspace`, by way of the call's
`Context`. Each is an ordinary tool, so calling one runs its plain function.
"""

from collections.abc import Collection

from lineshaft.errors import ConfigError
from lineshaft.kit._commands import run_command, split_command
from lineshaft.kit._files import delete_file, edit_file, move_file, read_file, write_file
from lineshaft.kit._find import find_files, list_files, search_text
from lineshaft.kit.fetch import fetch_tool
from lineshaft.kit.python import python_run
from lineshaft.tools import Toolset

__all__ = [
    "delete_file",
    "edit_file",
    "fetch_url",
    "find_files",
    "list_files",
    "move_file",
    "python_run",
    "read_file",
    "run_command",
    "search_text",
    "split_command",
    "tools",
    "write_file",
]

fetch_url = fetch_tool()

DEFAULT = "default"
"""Stands for the tools that come without being named."""

_DEFAULT = Toolset(
    [
        read_file,
        list_files,
        find_files,
        search_text,
        write_file,
        edit_file,
        move_file,
        delete_file,
        run_command,
        python_run,
    ]
)
_NAMES = (DEFAULT, *sorted([*_DEFAULT, fetch_url.name]))


def tools(*names: str, fetch_allow: Collection[str] = ()) -> Toolset:
    """Return built-in tools.

    Args:
        *names: Which; `default` stands for the ten that come where none is named: all but
            `fetch_url`.
        fetch_allow: `host:port` of places that `fetch_url` may reach although they are not
            addresses of the public network.

    Raises:
        ConfigError: There is no such tool.
    """
    for name in names:
        if name not in _NAMES:
            raise ConfigError(f"the kit has no tool {name!r}", hint=f"It has: {', '.join(_NAMES)}.")
    every = not names or DEFAULT in names
    found = _DEFAULT if every else _DEFAULT.filter(lambda tool: tool.name in names)
    if fetch_url.name not in names:
        return found
    return found.combine(Toolset([fetch_tool(fetch_allow) if fetch_allow else fetch_url]))
