"""python-socketio's server with types, as far as it is used."""

import importlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, cast

from starlette.types import ASGIApp

from lineshaft.errors import ConfigError

Handler = Callable[..., Coroutine[object, object, object]]


class _Connections(Protocol):
    def is_pre_connected(self, sid: str, namespace: str) -> bool: ...
    def is_connected(self, sid: str, namespace: str) -> bool: ...


class Sockets(Protocol):
    """Connections, and events both ways."""

    manager: _Connections

    async def emit(self, event: str, data: Mapping[str, object], to: str) -> None:
        """Send an event to a connection."""
        ...

    async def disconnect(self, sid: str) -> None:
        """End a connection."""
        ...

    def on(self, event: str, handler: Handler) -> None:
        """Call a handler with what clients send; what it returns acknowledges it."""
        ...


def sockets(handlers: Mapping[str, Handler], **options: object) -> tuple[Sockets, ASGIApp]:
    """Return a server over WebSockets and its ASGI application, to be mounted at `/socket.io`.

    Args:
        handlers: By the event's name. `connect` and `disconnect` are called for what happens to
            connections alone: events by which clients give themselves these names are dropped.
        **options: Of `socketio.AsyncServer`.

    Raises:
        ConfigError: The package is not installed.
    """
    library = _library()
    server = library.AsyncServer(
        async_mode="asgi",
        transports=["websocket"],
        cors_allowed_origins=[],  # origins are looked at by the door
        **options,
    )
    for event, handler in handlers.items():
        server.on(event, _genuine(event, handler, server))
    return cast("Sockets", server), cast("ASGIApp", library.ASGIApp(server, socketio_path=None))


def _genuine(event: str, handler: Handler, server: Sockets) -> Handler:
    """Return a handler of what a client cannot name: the library calls one for both."""

    def is_coming(connection: str) -> bool:
        return server.manager.is_pre_connected(connection, "/")

    def is_going(connection: str) -> bool:
        return not server.manager.is_connected(connection, "/")

    happens = {"connect": is_coming, "disconnect": is_going}.get(event)

    async def handle(connection: str, *said: object) -> object:
        if happens is None:  # of a client: what it says beyond one value is left alone
            return await handler(connection, *said[:1])
        return await handler(connection, *said) if happens(connection) else None

    return handle


def refusal(code: str, message: str) -> Exception:
    """Return the exception by which a handler of `connect` refuses a client."""
    refused = _library().exceptions.ConnectionRefusedError
    return cast("Exception", refused(message, {"code": code}))


def _library() -> Any:  # noqa: ANN401  it has no types
    try:
        return importlib.import_module("socketio")
    except ImportError as error:
        raise ConfigError(
            "to serve an editor needs one more package", hint='pip install "lineshaft[editor]"'
        ) from error
