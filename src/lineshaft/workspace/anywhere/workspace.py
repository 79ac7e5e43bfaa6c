"""A workspace over another one that cannot keep changes back by itself."""

from collections.abc import AsyncIterator

from lineshaft.errors import RunUnknown
from lineshaft.values import (
    NO_SECRETS,
    ApprovePaths,
    Capability,
    Change,
    Command,
    ConfirmUndo,
    Content,
    Entry,
    Finding,
    Process,
    Resolved,
    SecretFinder,
    Stage,
    StagedFile,
    Undone,
    Workspace,
)
from lineshaft.workspace.anywhere.view import ViewAnywhere, capabilities_over


class StagedAnywhere(Workspace):
    """A workspace whose runs may keep changes back, over one that makes each at once.

    Args:
        live: The workspace: its reads, walks, writes, moves and deletions are all that is needed.
    """

    def __init__(self, live: Workspace) -> None:
        self.live = live

    def __repr__(self) -> str:
        return repr(self.live)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Those of the workspace, and `staged`; a landing is not `atomic`, nothing is undone."""
        return capabilities_over(self.live)

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> Stage:
        """Return a view for one run; the arguments are those of `Workspace.begin`."""
        if not atomic and packed is None:
            return self.live.begin(run_id, secrets=secrets)
        view = ViewAnywhere(self.live, run_id, secrets=secrets)
        if packed:
            view.unpack(packed)
        return view

    async def recover(self) -> tuple[Finding, ...]:
        """Do what the workspace itself does after a crash."""
        return await self.live.recover()

    async def undo(self, run_id: str, *, confirm: ConfirmUndo | None = None) -> Undone:
        """Refuse.

        Raises:
            RunUnknown: Always: nothing is kept of what runs changed.
        """
        raise RunUnknown(
            f"run {run_id!r} cannot be undone: this workspace keeps nothing of what runs changed"
        )

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """As `Workspace.resolve`."""
        return await self.live.resolve(path, follow=follow)

    async def stat(self, path: str) -> Entry:
        """As `Workspace.stat`."""
        return await self.live.stat(path)

    async def read(self, path: str, *, noted: bool = True) -> Content:
        """As `Workspace.read`."""
        return await self.live.read(path, noted=noted)

    async def write(
        self, path: str, data: bytes, *, if_match: str | None = None, mode: int | None = None
    ) -> Change:
        """As `Workspace.write`: made at once."""
        return await self.live.write(path, data, if_match=if_match, mode=mode)

    async def make_folder(self, path: str, *, mode: int | None = None) -> Change:
        """As `Workspace.make_folder`: made at once."""
        return await self.live.make_folder(path, mode=mode)

    async def link(self, path: str, target: str) -> Change:
        """As `Workspace.link`: made at once."""
        return await self.live.link(path, target)

    async def move(
        self, source: str, target: str, *, approve: ApprovePaths | None = None
    ) -> Change:
        """As `Workspace.move`: made at once."""
        return await self.live.move(source, target, approve=approve)

    async def delete(self, path: str) -> Change:
        """As `Workspace.delete`: made at once."""
        return await self.live.delete(path)

    async def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """As `Workspace.walk`."""
        async for entry in self.live.walk(root, ignore=ignore, depth=depth):
            yield entry

    async def run(self, command: Command) -> Process:
        """As `Workspace.run`."""
        return await self.live.run(command)

    async def kept_back(self) -> tuple[StagedFile, ...]:
        """As `Workspace.kept_back`."""
        return await self.live.kept_back()
