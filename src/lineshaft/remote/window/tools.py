"""Tools of the window, in the namespace `editor`.

Above: configuration, which adds them where the workspace is a window. Below: `window.py`.
"""

from pathlib import Path

from anyio import to_thread
from typing_extensions import TypedDict

from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.remote.window.found import window_at
from lineshaft.tools import Tool, Toolset, WorkspacePath
from lineshaft.values import Context

_SECONDS = 90.0


class FileDiagnostic(TypedDict):
    """A finding of a language server or linter."""

    path: str
    """In the workspace, with `/`."""

    range: list[int]
    """First line and column, last line and column, from 1; the last column is behind it."""

    severity: str
    """`error`, `warning`, `info` or `hint`."""

    message: str
    code: str | None
    source: str | None
    """The program that found it, such as `ts`."""


class Diagnostics(TypedDict):
    """The diagnostics of files."""

    count: int
    """All that there are; where `truncated`, those left out in closed files count, too."""

    diagnostics: list[FileDiagnostic]
    """The first 1,000, errors first."""

    settled: bool
    """Whether nothing changed for a second; else they may not be all."""

    truncated: bool
    """Whether some are left out."""


def editor_tools(root: Path) -> Toolset:
    """Return the tools of the window that shows a folder; it is asked when they are called.

    Args:
        root: The folder.
    """
    window = window_at(root)

    async def get_errors(context: Context, paths: list[WorkspacePath] | None = None) -> Diagnostics:
        """Get the diagnostics of the editor's language servers and linters.

        What the run has changed lands first, so that the editor sees it. Nothing is told of files
        that policy closes to the call.

        Args:
            context: The call.
            paths: The files, which are opened for it; all that the editor knows of where left out.
        """
        wanted = None if paths is None else [str(path) for path in paths]
        try:
            found = await to_thread.run_sync(window.errors, wanted, abandon_on_cancel=True)
        except WorkspaceError as error:
            raise ToolError.of(error) from error
        open_to: dict[str, bool] = {}
        for path in {each.path for each in found.diagnostics}:
            open_to[path] = await _is_open(context, path)
        told = [each for each in found.diagnostics if open_to[each.path]]
        return {
            "count": found.count - (len(found.diagnostics) - len(told)),
            "diagnostics": [
                {
                    "path": each.path,
                    "range": list(each.range),
                    "severity": each.severity,
                    "message": each.message,
                    "code": each.code,
                    "source": each.source,
                }
                for each in told
            ],
            "settled": found.settled,
            "truncated": found.truncated,
        }

    tool = Tool.from_function(
        get_errors, effect="read", lane="workspace", needs_disk=True, seconds=_SECONDS
    )
    return Toolset([tool]).prefix("editor")


async def _is_open(context: Context, path: str) -> bool:
    """Return whether a call may read a file that it has not named; where it leads counts, too."""
    try:
        resolved = await context.workspace.resolve(path)
    except WorkspaceError:
        return False
    return all(context.reach(each) != "hidden" for each in {path, resolved.path})
