"""The built-in tools: files, search, commands, Python programs.

Above: host code that gives them to a session. Below: `values.Workspace`, whichever it is, by way of
    the
call's `Context`. Each is an ordinary tool, so calling one runs its plain function.
"""

from lineshaft.errors import ConfigError
from lineshaft.kit._commands import run_command
from lineshaft.kit._files import delete_file, edit_file, move_file, read_file, write_file
from lineshaft.kit._find import find_files, list_files, search_text
from lineshaft.kit.python import python_run
from lineshaft.tools import Toolset

__all__ = [
    "delete_file",
    "edit_file",
    "find_files",
    "list_files",
    "move_file",
    "python_run",
    "read_file",
    "run_command",
    "search_text",
    "tools",
    "write_file",
]

_ALL = Toolset(
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


def tools(*names: str) -> Toolset:
    """Return built-in tools.

    Args:
        *names: Which; all where left out.

    Raises:
        ConfigError: There is no such tool.
    """
    for name in names:
        if name not in _ALL:
            raise ConfigError(
                f"the kit has no tool {name!r}", hint=f"It has: {', '.join(sorted(_ALL))}."
            )
    return _ALL.filter(lambda tool: tool.name in names) if names else _ALL
