"""The environment of a session's runs: a workspace that can stage changes, and a store."""

from pathlib import Path
from typing import Literal

from lineshaft.scripts import RunEnvironment
from lineshaft.session._session_tools import SessionTools
from lineshaft.store import Store, workspace_folder
from lineshaft.tools import ShapeBook, merge_shapes
from lineshaft.values import Struct, Workspace
from lineshaft.workspace import Folder, StagedAnywhere


class SessionStorage(Struct, frozen=True, kw_only=True):
    """A workspace and a store, ready for runs."""

    workspace: Workspace
    atomic: bool
    store: Store | None
    eager: bool
    """Runs are kept that only read."""

    folder: Path | None
    """On this machine, where it was given as such."""

    root: str

    def under_runs(self, tools: SessionTools) -> RunEnvironment:
        """Return it as runs see it, with the tools that they may call."""
        return RunEnvironment(
            workspace=self.workspace,
            atomic=self.atomic,
            root=self.root,
            log=self.store,
            eager=self.eager,
            tools=tools,
        )

    def shapes(self) -> ShapeBook:
        """Return what knows of results, earlier sessions' too where a store was given."""
        if not self.store or not self.eager:
            return ShapeBook()
        store, root = self.store, self.root
        return ShapeBook(
            keep=lambda seen: store.observe(root, seen, merge_shapes),
            load=lambda: store.shapes(root),
        )


def storage_of(
    workspace: str | Path | Workspace,
    *,
    atomic: bool,
    store: Store | str | Path | Literal[False] | None,
) -> SessionStorage:
    """Return the environment of a session's runs.

    Args:
        workspace: The folder, or a workspace.
        atomic: Whether changes are kept back until they land.
        store: As a session takes it.

    """
    kept = None if store is False else store if isinstance(store, Store) else Store(store or None)
    live = Folder(workspace) if isinstance(workspace, str | Path) else workspace
    if isinstance(live, Folder) and "undo" not in live.capabilities:
        days = 7 if kept is None else kept.keep_days
        live = live.with_journals(workspace_folder(Path(live.root)), keep_days=days)
    if atomic and "staged" not in live.capabilities:
        live = StagedAnywhere(live)
    root = live.root if isinstance(live, Folder) else ""
    return SessionStorage(
        workspace=live,
        atomic=atomic,
        store=kept,
        eager=store is not None and store is not False,
        folder=Path(workspace) if isinstance(workspace, str | Path) else None,
        root=str(root),
    )
