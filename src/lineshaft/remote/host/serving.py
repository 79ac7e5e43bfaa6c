"""A host that listens on this machine, for windows and for other programs of the same person."""

import socket
from collections.abc import Callable

import anyio

from lineshaft.http import LOCAL, Door, Hosts, listen, listening
from lineshaft.remote.host.host import MESSAGE_BYTES, EditorHost

_ENVELOPE = 64 * 1024
"""Bytes that Engine.IO puts around a message."""


async def serve_editors(
    host: EditorHost,
    *,
    token: str,
    port: int = 0,
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve editors on 127.0.0.1 until the task is cancelled.

    Args:
        host: The host.
        token: What clients must show, from `lineshaft.http.token_of`.
        port: 0: any that is free.
        ready: Called with the address, `http://127.0.0.1:PORT`, once clients can come.

    Raises:
        ConfigError: The port cannot be listened on.
    """
    with listening("127.0.0.1", port) as bound:
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        door = Door(host.app(), token, Hosts(LOCAL))
        async with anyio.create_task_group() as group:
            group.start_soon(_listen, door, bound, lambda: ready(address))
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await host.aclose()


async def _listen(door: Door, bound: socket.socket, ready: Callable[[], None]) -> None:
    await listen(door, bound, ready=ready, websocket_bytes=MESSAGE_BYTES + _ENVELOPE)
