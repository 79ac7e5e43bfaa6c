"""Conversion of a workspace's errors to those of a call."""

from collections.abc import Generator
from contextlib import contextmanager

from lineshaft.errors import ToolError, WorkspaceError


@contextmanager
def raised_by_calls() -> Generator[None]:
    """Turn a `WorkspaceError` into a `ToolError` with the same code."""
    try:
        yield
    except WorkspaceError as error:
        raise ToolError.of(error) from error


def invalid(message: str, hint: str = "") -> ToolError:
    """Return the error for arguments that cannot be."""
    return ToolError("E_INVALID_ARGS", message, hint=hint)
