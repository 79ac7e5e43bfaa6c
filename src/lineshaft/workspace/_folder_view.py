"""One run's view of a folder; its changes are on the disk at once."""

from collections.abc import Sequence

from msgspec.structs import replace

from lineshaft.errors import ConfigError, Guarded
from lineshaft.values import (
    NO_SECRETS,
    Change,
    ConfirmUndo,
    Finding,
    Guard,
    SecretFinder,
    Stage,
    Undone,
)
from lineshaft.workspace._direct_view import DirectView
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace._shared import Shared
from lineshaft.workspace._state_folder import StateFolder
from lineshaft.workspace.disk import Mounts
from lineshaft.workspace.guards import guarded


class FolderView(DirectView, Stage):
    """One run's view of a folder: all it does is on the disk at once, and remembered.

    It adds `@state`, a private folder for the run; `discard` removes it.
    """

    def __init__(
        self, mounts: Mounts, shared: "Shared", *, secrets: SecretFinder = NO_SECRETS
    ) -> None:
        self._state = StateFolder()
        own = mounts.with_mount("state", self._state.real, self._state.make)
        super().__init__(own, shared, secrets=secrets)
        self._own = Ledger()

    @property
    def _ledger(self) -> Ledger:
        return self._own

    @property
    def landed(self) -> int:
        """Everything lands at once: there are no stages to count."""
        return 0

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> Stage:
        """Refuse: a view is of one run."""
        raise ConfigError("a view begins no other view: ask the folder")

    async def recover(self) -> tuple[Finding, ...]:
        """Refuse: that is the folder's."""
        raise ConfigError("a view recovers nothing: ask the folder")

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refuse: that is the folder's."""
        raise ConfigError("a view undoes nothing: ask the folder")

    async def diff(self) -> str:
        """Return an empty result: all changes have landed."""
        return ""

    @property
    def touched(self) -> bool:
        """Whether anything was ever changed through this view."""
        return self._ledger.touched

    def layer(self, name: str) -> Stage:
        """Refuse: changes of this view are not kept back."""
        raise ConfigError("a view that writes through has no layers")

    async def merge(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Refuse: it is no layer."""
        raise ConfigError("a view that writes through has no layers")

    def drop(self) -> None:
        """Refuse: it is no layer."""
        raise ConfigError("a view that writes through has no layers")

    @property
    def abandoned(self) -> tuple[Change, ...]:
        """Nothing: there are no layers."""
        return ()

    async def fork(self) -> "FolderView":
        """Refuse: all changes of this view land."""
        raise ConfigError("a view that writes through has no copies")

    async def pack(self) -> bytes:
        """Return an empty result: all changes have landed."""
        return b""

    async def changes(self) -> tuple[Change, ...]:
        """Return the changes of this view, one entry a path, in order of first change."""
        return await self._hop(self._changes) if self._ledger.touched else ()

    def _changes(self) -> tuple[Change, ...]:
        with self._shared.lock:
            return self._ledger.changes()

    async def consult(self, process: str = "") -> tuple[Finding, ...]:
        """Return an empty list: no editor shows the folder, or nothing is kept back."""
        del process
        return ()

    async def land(self, guards: Sequence[Guard] = ()) -> tuple[Finding, ...]:
        """Return the guards' findings as warnings: the changes are on the disk already."""
        try:
            return await self.look(guards)
        except Guarded as error:
            return tuple(
                replace(finding, level="warning") if finding.level == "error" else finding
                for finding in error.findings
                if isinstance(finding, Finding)
            )

    async def look(self, guards: Sequence[Guard]) -> tuple[Finding, ...]:
        """Ask guards about all changes, and raise `Guarded` where one finds an error."""
        return await guarded(guards, await self.changes(), self, secrets=self._secrets)

    async def discard(self) -> None:
        """End the view: its changes stay, its `@state` is removed."""
        if self._state.made:
            await self._hop(self._state.close)
