"""What a call may do ends with the call: its workspace answers no longer."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from lineshaft.errors import ToolError
from lineshaft.values import (
    Capability,
    Change,
    Command,
    Content,
    Entry,
    Process,
    Resolved,
    Stage,
    Workspace,
)


@dataclass(slots=True)
class Lease:
    """Whether a call is still under way."""

    over: bool = False


class Leased(Workspace):
    """A run's view of the workspace, as long as the call lasts that it was lent to."""

    def __init__(self, view: Stage, lease: Lease) -> None:
        self._view = view
        self._lease = lease

    @property
    def _live(self) -> Stage:
        if self._lease.over:
            raise ToolError("E_DENIED", "the call is over: it can no longer use the workspace")
        return self._view

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the workspace can do."""
        return self._live.capabilities

    async def resolve(self, path: str, *, follow: bool = True) -> Resolved:
        """As `Workspace.resolve`."""
        return await self._live.resolve(path, follow=follow)

    async def stat(self, path: str) -> Entry:
        """As `Workspace.stat`."""
        return await self._live.stat(path)

    async def read(self, path: str) -> Content:
        """As `Workspace.read`."""
        return await self._live.read(path)

    async def write(self, path: str, data: bytes, *, if_match: str | None = None) -> Change:
        """As `Workspace.write`."""
        return await self._live.write(path, data, if_match=if_match)

    async def move(self, source: str, target: str) -> Change:
        """As `Workspace.move`."""
        return await self._live.move(source, target)

    async def delete(self, path: str) -> Change:
        """As `Workspace.delete`."""
        return await self._live.delete(path)

    def walk(
        self, root: str = ".", *, ignore: bool = True, depth: int | None = None
    ) -> AsyncIterator[Entry]:
        """As `Workspace.walk`."""
        return self._live.walk(root, ignore=ignore, depth=depth)

    async def run(self, command: Command) -> Process:
        """As `Workspace.run`."""
        return await self._live.run(command)

    def begin(self) -> Stage:
        """Refused: a call works in its run's view."""
        raise ToolError("E_DENIED", "a tool works in its run's view; it cannot begin another")
