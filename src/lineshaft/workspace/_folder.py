"""A workspace that is a folder.

Above: sessions, the gate and the kit's tools. Below: `_direct_view.py` makes direct changes,
`staging/view.py` keeps changes back until they land.
"""

from collections.abc import Collection, Mapping
from copy import copy
from pathlib import Path
from typing import Self

from lineshaft.errors import ConfigError, RunUnknown
from lineshaft.values import NO_SECRETS, ConfirmUndo, Finding, SecretFinder, Undone, Workspace
from lineshaft.workspace._direct_view import DirectView
from lineshaft.workspace._folder_view import FolderView
from lineshaft.workspace._shared import Shared
from lineshaft.workspace._state_folder import sweep_states
from lineshaft.workspace.disk import PROJECT, Editor, Mount, Mounts
from lineshaft.workspace.journal import Journals, LandedContents, finish, landed_contents, undo
from lineshaft.workspace.staging import StagedView, changes_landed


class Folder(DirectView, Workspace):
    """A folder on this machine.

    The folder itself remembers nothing between operations; a view from `begin` does.

    Args:
        root: The folder.
        aliases: More folders, by alias.
        allow_env: Names of variables that its commands get from the host.
        journals: A private folder outside of all mounts, where landings are kept; None: changes are
            never kept back. All users of a workspace share one.
        keep_days: How long a landing can be undone.
        editor: A window that shows the folder: what it has not saved counts, and changes of files
            land through it.

    Raises:
        ConfigError: A folder is missing.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        aliases: Mapping[str, Mount] | None = None,
        allow_env: Collection[str] = (),
        journals: Path | None = None,
        keep_days: float = 7,
        editor: Editor | None = None,
    ) -> None:
        sweep_states()
        kept = None if journals is None else Journals(journals, keep_days)
        mounts = Mounts(root, aliases or {}, editor)
        super().__init__(mounts, Shared(tuple(allow_env), kept, editor))

    @property
    def root(self) -> str:
        """Its path on this machine."""
        return self._mounts.place(".").real

    def with_journals(self, folder: Path, *, keep_days: float = 7) -> Self:
        """Return the same workspace, able to keep changes back.

        Args:
            folder: As `journals`.
            keep_days: How long a landing can be undone.
        """
        other = copy(self)
        other._shared = Shared(  # noqa: SLF001  of its own class
            self._shared.allow_env, Journals(folder, keep_days), self._shared.editor
        )
        return other

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> "FolderView":
        """Return a view for one run, which knows what it read and changed.

        Args:
            run_id: Whose changes they are, for `undo`.
            atomic: Whether changes stay in the view until `land`.
            packed: From `Stage.pack`: go on where that view was. Empty: that view died with its
                process, and only what landed is known.
            secrets: What is not cut in two where the output of commands is.

        Raises:
            ConfigError: Changes cannot wait here.
            StateError: What was packed is not a view, or one of another version.
        """
        if not atomic and packed is None and self._shared.editor is not None:
            raise ConfigError(
                "changes land together in an editor", hint="leave out what asks for each at once"
            )
        if not atomic and packed is None:
            return FolderView(self._mounts, self._shared, secrets=secrets)
        if self._shared.journals is None:
            raise ConfigError("a folder without a journal cannot keep changes back")
        view = StagedView(self._mounts, self._shared, run_id, secrets=secrets)
        if packed:
            view.unpack(packed)
        elif packed is not None:
            journals = self._shared.journals
            landings = {kept.id for kept in journals.of(run_id)}
            view.goes_on(landings, changes_landed(journals, run_id))
        return view

    async def recover(self) -> tuple[Finding, ...]:
        """Finish or take back landings that a crash interrupted.

        Raises:
            WorkspaceError: That cannot be done now.
            StateError: Another version began it.
        """
        journals = self._shared.journals
        if journals is None or not journals.unfinished():
            return ()
        return await self._hop(self._recover, journals)

    def _recover(self, journals: Journals) -> tuple[Finding, ...]:
        with self._shared.lock, journals.lock():
            return tuple(finish(journals))

    def half_landed(self) -> int:
        """Return how many landings are under way, or were when their process died."""
        journals = self._shared.journals
        return 0 if journals is None else len(journals.unfinished())

    async def landed(self, run_id: str, path: str, moved_from: str | None = None) -> LandedContents:
        """Return what a run made of a file: its content before and after.

        Args:
            run_id: The run.
            path: The file, as the run's changes name it.
            moved_from: Where it was before, of a file that was moved.

        Raises:
            RunUnknown: No landed change of it is known.
            StateExpired: The contents are not kept any longer, or the run was undone.
            TooLarge: It has more than 1,000,000 bytes.
        """
        journals = self._shared.journals
        if journals is None:
            raise RunUnknown(f"nothing is kept of the changes of run {run_id!r}")
        return await self._hop(landed_contents, journals, run_id, path, moved_from)

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Take back all landed changes of a run, whole or not at all.

        Args:
            run_id: The run.
            confirm: As for `Workspace.undo`.

        Raises:
            StaleFile: Some of the files were changed since; they are named, nothing was done.
            StateExpired: The time for which they were kept is over.
            RunUnknown: No changes of that run are known.
        """
        journals = self._shared.journals
        if journals is None:
            raise RunUnknown(f"nothing is kept of the changes of run {run_id!r}")
        return await self._hop(self._undo, journals, run_id, confirm)

    def _undo(self, journals: Journals, run_id: str, confirm: ConfirmUndo | None) -> Undone:
        from anyio import from_thread  # noqa: PLC0415  only an undo needs it

        def confirmed() -> None:
            if confirm is not None:
                from_thread.run(confirm)

        with self._shared.lock, journals.lock():
            finish(journals)
            project, editor = self._mounts.roots[PROJECT].real, self._shared.editor
            return undo(journals, run_id, editor, project=project, confirm=confirmed)
