"""python-socketio's server with types, as far as it is used."""

import importlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, cast

from starlette.types import ASGIApp

from lineshaft.errors import ConfigError

Handler = Callable[..., Coroutine[object, object, object]]


class _Connections(Protocol):
    def is_pre_connected(self, sid: str, namespace: str) -> bool: ...


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
        handlers: By the event's name.
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
        server.on(event, handler)
    return cast("Sockets", server), cast("ASGIApp", library.ASGIApp(server, socketio_path=None))


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
