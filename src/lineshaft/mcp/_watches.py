"""The resources that are watched on one connection to a server, in both kinds of protocol."""

from collections.abc import Callable

import anyio
import mcp_types as types
from anyio.abc import TaskStatus
from mcp import MCPError

from lineshaft.mcp._link import Link

_LONGEST_PAUSE = 60.0


class Watches:
    """What is watched.

    Args:
        link: The connection.
        updated: Told of each resource that has changed.
    """

    def __init__(self, link: Link, updated: Callable[[str], None]) -> None:
        self._link = link
        self._updated = updated
        self._watched: dict[str, anyio.CancelScope] = {}
        link.updated = updated

    async def begin(self, uri: str) -> None:
        """Watch a resource; one that is watched already stays as it is.

        Raises:
            MCPError: The server refused it, or is gone.
        """
        if uri in self._watched:
            return
        if self._link.is_modern and self._link.tasks is not None:
            self._watched[uri] = await self._link.tasks.start(self._listen, uri)
            return
        params = types.SubscribeRequestParams(uri=uri)
        request = types.SubscribeRequest(params=params)
        await self._link.client.session.send_request(request, types.EmptyResult)
        self._watched[uri] = anyio.CancelScope()

    async def end(self, uri: str) -> None:
        """Watch a resource no longer.

        Raises:
            MCPError: The server refused that, or is gone.
        """
        scope = self._watched.pop(uri, None)
        if scope is None:
            return
        scope.cancel()
        if not self._link.is_modern:
            params = types.UnsubscribeRequestParams(uri=uri)
            request = types.UnsubscribeRequest(params=params)
            await self._link.client.session.send_request(request, types.EmptyResult)

    async def _listen(self, uri: str, *, task_status: TaskStatus[anyio.CancelScope]) -> None:
        """Hear of one resource, also after the stream has broken off."""
        began, pause = False, 1.0
        with anyio.CancelScope() as scope:
            while True:
                try:
                    async with self._link.client.listen(resource_subscriptions=[uri]) as events:
                        _must_tell_of(uri, events.honored)
                        if began:
                            self._updated(uri)  # it may have changed meanwhile
                        else:
                            began = True
                            task_status.started(scope)
                        async for _event in events:
                            pause = 1.0
                            self._updated(uri)
                except Exception:  # lost, in one of several ways: begin again
                    if not began:
                        raise
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)


def _must_tell_of(uri: str, honored: types.SubscriptionFilter) -> None:
    if uri not in (honored.resource_subscriptions or ()):
        text = "the server does not tell of changes of this resource"
        raise MCPError(types.INVALID_PARAMS, text)
