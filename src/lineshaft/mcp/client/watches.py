"""The resources that are watched on one connection to a server, in both kinds of protocol."""

from collections.abc import Callable

import anyio
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus
from mcp import MCPError
from mcp.client.subscriptions import ResourceUpdated

from lineshaft.mcp.client.connection import Connection

_LONGEST_PAUSE = 60.0


class Watches:
    """The resources watched. In the newest protocol one stream tells of all of them.

    Args:
        link: The connection.
        updated: Told of each resource that has changed.
    """

    def __init__(self, link: Connection, updated: Callable[[str], None]) -> None:
        self._link = link
        self._updated = updated
        self._watched: frozenset[str] = frozenset()
        self._stream = anyio.CancelScope()
        link.updated = updated

    async def begin(self, uri: str) -> None:
        """Watch a resource; one that is watched already stays as it is.

        Raises:
            MCPError: The server refused it, or is gone.
        """
        if uri in self._watched:
            return
        watched = self._watched | {uri}
        if self._link.is_modern and self._link.tasks is not None:
            await self._listen(self._link.tasks, watched, uri)
        else:
            params = types.SubscribeRequestParams(uri=uri)
            request = types.SubscribeRequest(params=params)
            await self._link.client.session.send_request(request, types.EmptyResult)
        self._watched = watched

    async def end(self, uri: str) -> None:
        """Watch a resource no longer.

        Raises:
            MCPError: The server refused that, or is gone.
        """
        if uri not in self._watched:
            return
        self._watched -= {uri}
        if not self._link.is_modern:
            params = types.UnsubscribeRequestParams(uri=uri)
            request = types.UnsubscribeRequest(params=params)
            await self._link.client.session.send_request(request, types.EmptyResult)
        elif self._watched and self._link.tasks is not None:
            await self._listen(self._link.tasks, self._watched)
        else:
            self._stream.cancel()

    async def _listen(self, tasks: TaskGroup, uris: frozenset[str], new: str = "") -> None:
        """Hear of these resources by another stream, and then no longer by the one before."""
        stream, told = await tasks.start(self._hear, uris)
        if new and new not in told:
            stream.cancel()
            text = "the server does not tell of changes of this resource"
            raise MCPError(types.INVALID_PARAMS, text)
        self._stream.cancel()
        self._stream = stream

    async def _hear(
        self,
        uris: frozenset[str],
        *,
        task_status: TaskStatus[tuple[anyio.CancelScope, frozenset[str]]],
    ) -> None:
        """Hear of resources, also after the stream has broken off."""
        began, pause = False, 1.0
        with anyio.CancelScope() as scope:
            while True:
                try:
                    listening = self._link.client.listen(resource_subscriptions=sorted(uris))
                    async with listening as events:
                        if began:
                            for uri in uris:
                                self._updated(uri)  # it may have changed meanwhile
                        else:
                            began = True
                            told = events.honored.resource_subscriptions or ()
                            task_status.started((scope, frozenset(told)))
                        async for event in events:
                            pause = 1.0
                            if isinstance(event, ResourceUpdated):
                                self._updated(event.uri)
                except Exception:  # lost, in one of several ways: begin again
                    if not began:
                        raise
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
