"""From an error to the exit code of the command line."""

from collections.abc import Mapping

from lineshaft.errors import (
    ConfigError,
    EngineError,
    EvalError,
    LimitExceeded,
    LineshaftError,
    ModelError,
    RecordError,
    RemoteError,
    ToolError,
    WorkspaceError,
)

USAGE = 2
DENIED = 3
CANCELLED = 130

EXIT_BY_ERROR: Mapping[type[LineshaftError], int] = {
    LineshaftError: 1,
    ConfigError: USAGE,
    ToolError: 1,
    EngineError: 1,
    LimitExceeded: 4,
    WorkspaceError: 1,
    RemoteError: 1,
    ModelError: 1,
    EvalError: 1,
    RecordError: 1,
}
"""Every branch of the tree; a leaf without a line of its own counts as its branch."""


def exit_code(error: LineshaftError) -> int:
    """Return the exit code for an error that ended a command."""
    if error.code == "E_DENIED":
        return DENIED
    return next(EXIT_BY_ERROR[kind] for kind in type(error).__mro__ if kind in EXIT_BY_ERROR)
