"""A server that listens as long as a block or a task lasts, and leaves signals to its host."""

import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

import anyio
import uvicorn
from starlette.types import ASGIApp

from lineshaft.errors import ConfigError
from lineshaft.http._connections import Bounded

_CLOSE_SECONDS = 2


async def listen(
    app: ASGIApp,
    bound: socket.socket,
    *,
    ready: Callable[[], None] = lambda: None,
    leaving: Callable[[], None] = lambda: None,
    websocket_bytes: int | None = None,
) -> None:
    """Serve an application until the task is cancelled; what is under way is answered first.

    Args:
        app: The application; it has a lifespan.
        bound: From `listening`.
        ready: Called once clients can come.
        leaving: Called when the task is cancelled, to end what is under way.
        websocket_bytes: The longest message of a WebSocket; None: there are none.
    """
    kind: Literal["none", "wsproto"] = "none" if websocket_bytes is None else "wsproto"
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=_CLOSE_SECONDS,
        ws=kind,
        ws_max_size=websocket_bytes or 0,
        http=Bounded,
    )
    serving = _Serving(config, ready)
    async with anyio.create_task_group() as group:
        group.start_soon(_serve, serving, bound)
        try:
            await anyio.sleep_forever()
        finally:
            leaving()
            serving.should_exit = True


async def _serve(serving: "_Serving", bound: socket.socket) -> None:
    # Told to end, and not cancelled: what is under way is answered first.
    with anyio.CancelScope(shield=True):
        await serving.serve(sockets=[bound])


class _Serving(uvicorn.Server):
    """A server that leaves signals to its host."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Do nothing."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets=sockets)
        self._ready()


@contextmanager
def listening(host: str, port: int) -> Generator[socket.socket]:
    """Listen, before anything else is started.

    Args:
        host: A name or an address.
        port: 0: any that is free.

    Raises:
        ConfigError: It cannot be listened on.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, proto, _, address = found[0]
        bound = socket.socket(family, kind, proto)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host!r}: {error}") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"cannot listen on {host}:{port}: {error.strerror}",
            hint="choose another --port; 0: any",
        ) from error
    with bound:
        yield bound
