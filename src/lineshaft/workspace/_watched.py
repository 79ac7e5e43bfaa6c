"""A process of a run, and what it changed."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace

import anyio

from lineshaft.values import Change, Exit, Line, Process
from lineshaft.workspace import disk
from lineshaft.workspace._compare import snapshot
from lineshaft.workspace.disk import Mark, Place


class Watched(Process):
    """A process, and a look at the tree when it has ended, however it did."""

    def __init__(self, process: Process, look: Callable[[], Awaitable[tuple[Change, ...]]]) -> None:
        self._process = process
        self._look = look
        self._changes: tuple[Change, ...] | None = None

    def lines(self) -> AsyncIterator[Line]:
        """Return its lines as they come; ends when the output ends."""
        return self._process.lines()

    async def wait(self) -> Exit:
        """Wait for the end; on cancellation the whole tree is ended first."""
        try:
            done = await self._process.wait()
        finally:
            if self._changes is None:
                with anyio.CancelScope(shield=True):
                    self._changes = await self._look()
        return replace(done, changes=self._changes)

    async def kill(self) -> None:
        """End the whole tree: SIGTERM, 2 s, SIGKILL; the drain takes 1 s at most."""
        await self._process.kill()


def marks(root: Place) -> Mapping[Place, Mark]:
    """Take a look at a tree, to be compared with a later one."""
    with disk.told(root.path):
        return snapshot(root)
