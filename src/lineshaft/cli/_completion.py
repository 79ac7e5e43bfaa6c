"""Completion of the word that is being typed in a shell; where that fails, nothing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

import click

from lineshaft.cli._records import look
from lineshaft.config import read_settings
from lineshaft.config import tools as configured_tools
from lineshaft.errors import LineshaftError
from lineshaft.policy import Mode
from lineshaft.store import Store, workspace_name
from lineshaft.values import ENGINES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MOST_RUNS = 50


def modes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the modes of policy."""
    return _fitting(get_args(Mode), incomplete)


def engines(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of engines."""
    return _fitting(ENGINES, incomplete)


def files(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """Return what has the shell look for files."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  no command needs it

    return [CompletionItem(incomplete, type="file")]


def tools(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the tools; those of servers would have to be started."""
    try:
        found = configured_tools(read_settings(), faulty=lambda _name, _error: None)
        return _fitting(found, incomplete)
    except LineshaftError:
        return []


def runs(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the ids of this workspace's last runs, the newest first."""
    try:
        settings = read_settings()
        workspace = workspace_name(settings.root)

        async def read(store: Store) -> list[str]:
            return [run.run_id for run in await store.runs(workspace=workspace, limit=_MOST_RUNS)]

        return _fitting(look(settings, read), incomplete)
    except LineshaftError:
        return []


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
