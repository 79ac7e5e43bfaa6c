"""From an error to the exit code of the command line."""

from collections.abc import Mapping

from lineshaft.cli._leaving import CANCELLED
from lineshaft.errors import (
    AgentError,
    ConfigError,
    EngineError,
    EvalError,
    LimitExceeded,
    LineshaftError,
    ModelError,
    RecordError,
    RemoteError,
    StateError,
    ToolError,
    WorkspaceError,
)

USAGE = 2
DENIED = 3

LEFT_BEHIND: list[object] = []
"""What does not end and must not keep the process; the process then ends without ceremony."""

_BY_CODE: Mapping[str, int] = {
    "E_DENIED": DENIED,
    "E_CANCELLED": CANCELLED,
    ConfigError.code: USAGE,
}

EXIT_BY_ERROR: Mapping[type[LineshaftError], int] = {
    LineshaftError: 1,
    ConfigError: USAGE,
    ToolError: 1,
    EngineError: 1,
    LimitExceeded: 4,
    WorkspaceError: 1,
    RemoteError: 1,
    ModelError: 1,
    AgentError: 1,
    EvalError: 1,
    RecordError: 1,
    StateError: 1,
}
"""Every branch of the tree; a leaf without a line of its own counts as its branch."""


def exit_code(error: LineshaftError) -> int:
    """Return the exit code for an error that ended a command."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    return next(EXIT_BY_ERROR[kind] for kind in type(error).__mro__ if kind in EXIT_BY_ERROR)
