"""A workspace of tests that stands for one far away: nothing of it is a file of this machine.

It makes each change at once and keeps nothing: reads, walks and writes alone. Its files lie in a
folder, so that a test can change them behind its back.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from lineshaft.errors import RunUnknown, WorkspaceError
from lineshaft.values import (
    NO_SECRETS,
    Capability,
    Change,
    Command,
    ConfirmUndo,
    Content,
    Finding,
    Process,
    Resolved,
    SecretFinder,
    Undone,
    Workspace,
)
from lineshaft.workspace import Folder, FolderView, StagedAnywhere


class Distant(Folder):
    """A workspace without commands, undo and changes that wait."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.fails_at = ""
        """A path that cannot be written."""

        self.fails_with: type[Exception] = WorkspaceError
        """The kind of that failure."""

        self.gone: list[Exception] = []
        """What each look at a file raises from now on; copies share it."""

        self.deaf = False
        """Whether nothing can be taken back after a failure."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """It has none."""
        return frozenset()

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """As `Workspace.resolve`; the real path is none of this machine."""
        return _far(await super().resolve(path, follow=follow))

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> "DistantView":
        """As `Workspace.begin`."""
        assert not atomic
        assert packed is None
        return DistantView(self)

    async def recover(self) -> tuple[Finding, ...]:
        """Do nothing: it keeps nothing."""
        return ()

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refuse: it keeps nothing."""
        raise RunUnknown(run_id)


class DistantView(FolderView):
    """A run's view of it, each change made at once."""

    def __init__(self, live: Distant) -> None:
        super().__init__(live._mounts, live._shared)
        self._live = live
        self._failed = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        """It has none."""
        return frozenset()

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """As `Workspace.resolve`; the real path is none of this machine."""
        return _far(await super().resolve(path, follow=follow))

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """As `Workspace.read`."""
        for error in self._live.gone:
            raise error
        return await super().read(path, noted=noted)

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """As `Workspace.write`."""
        if path == self._live.fails_at or (self._failed and self._live.deaf):
            self._failed = True
            raise self._live.fails_with(f"{path!r} cannot be written there")
        return await super().write(path, data, if_match=if_match, mode=mode)

    async def run(self, command: Command) -> Process:
        """Refuse: nobody may ask for it."""
        raise AssertionError


def _far(place: Resolved) -> Resolved:
    path = str(place.path)  # as it comes over a wire
    return replace(place, path=path, real=f"distant:{path}")


STAGES: Mapping[str, Callable[[Path], Workspace]] = {
    "folder": lambda root: Folder(root, journals=root.parent / "journals"),
    "distant": lambda root: StagedAnywhere(Distant(root)),
}
"""Workspaces that keep changes back, by kind, made over a folder."""
