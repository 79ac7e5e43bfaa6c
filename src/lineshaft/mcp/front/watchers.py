"""The clients of a front that watch resources of a server: each hears of what it watches alone."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager, suppress

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from lineshaft.errors import LineshaftError
from lineshaft.mcp.client import ServerResources

_MOST = 512
"""Resources that are watched at once, by all clients."""

_MOST_OF_ONE = 64
_LONGEST = 2_000
_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_SEND_SECONDS = 5.0
"""Seconds for which a client that does not read may keep others waiting."""

Tell = Callable[[str], Awaitable[None]]
"""Tells that a resource has changed: one client, or all that listen in the newest protocol."""


class Watchers:
    """Who watches what.

    Args:
        beside: What is watched.
    """

    def __init__(self, beside: ServerResources) -> None:
        self._beside = beside
        self._held: dict[str, dict[Hashable, Tell]] = {}
        self._changed: dict[str, None] = {}
        self._moved = anyio.Event()

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Tell clients of changes inside the block."""
        self._beside.updated = self._note
        async with anyio.create_task_group() as group:
            group.start_soon(self._announce)
            group.start_soon(self._keep)
            try:
                yield
            finally:
                self._beside.updated = lambda _uri: None
                group.cancel_scope.cancel()

    async def hold(
        self, who: Hashable, uri: str, tell: Tell, begin: Callable[[], Awaitable[object]]
    ) -> None:
        """Tell a client about changes of a resource from now on.

        Args:
            who: The client.
            uri: The resource.
            tell: Tells it.
            begin: Has the server watch it, if it may be.

        Raises:
            MCPError: It may not be watched, or too much is.
        """
        if who in self._held.get(uri, ()):
            await begin()  # it stays as it is, whatever comes of asking once more
            return
        held = sum(who in each for each in self._held.values())
        if len(uri) > _LONGEST or held >= _MOST_OF_ONE:
            text = f"a client may watch {_MOST_OF_ONE} resources, with {_LONGEST:,} characters each"
            raise MCPError(types.INVALID_PARAMS, text)
        if uri not in self._held and len(self._held) >= _MOST:
            raise MCPError(types.INTERNAL_ERROR, f"{_MOST} resources are watched already")
        self._held.setdefault(uri, {})[who] = tell
        try:
            await begin()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.let_go(who, uri)
            raise

    async def let_go(self, who: Hashable, uri: str) -> None:
        """Stop telling a client about a resource; the last client ends the watch."""
        if self._is_free_of(who, uri):
            await self._beside.unwatch(uri)

    async def gone(self, who: Hashable) -> None:
        """Forget a client that has gone, at once; what nobody watches now is ended afterwards."""
        free = [uri for uri in tuple(self._held) if self._is_free_of(who, uri)]
        for uri in free:
            if uri not in self._held:  # another client may watch it by now
                await self._beside.unwatch(uri)

    def _is_free_of(self, who: Hashable, uri: str) -> bool:
        """Take a client off a resource; return whether it was the last one."""
        holders = self._held.get(uri, {})
        holders.pop(who, None)
        if uri not in self._held or holders:
            return False
        del self._held[uri]
        return True

    def _note(self, uri: str) -> None:
        """Note that something has changed; servers also name what lies below what is watched."""
        for held in self._held:
            if uri == held or uri.startswith(f"{held.rstrip('/')}/"):
                self._changed[held] = None
                self._moved.set()

    async def _announce(self) -> None:
        while True:
            await self._moved.wait()
            self._moved = anyio.Event()
            changed, self._changed = self._changed, {}
            async with anyio.create_task_group() as group:
                for uri in changed:
                    for tell in set(self._held.get(uri, {}).values()):
                        group.start_soon(_tell, tell, uri)

    async def _keep(self) -> None:
        """Keep the server connected as long as anything of it is watched."""
        while True:
            await self._beside.lost()
            pause = _SHORTEST_PAUSE
            while self._beside.is_lost:
                if self._held:
                    with suppress(LineshaftError):
                        await self._beside.connect()
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)


async def _tell(tell: Tell, uri: str) -> None:
    with anyio.move_on_after(_SEND_SECONDS), suppress(MCPError):
        await tell(uri)
