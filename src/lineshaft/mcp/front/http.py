"""A front over HTTP: bearer token, Host and Origin looked at, requests of bounded size.

Not covered: TLS, and more than one token. Behind a proxy that does both, name its host.
"""

import hmac
import math
import secrets
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from operator import itemgetter

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineshaft.errors import ConfigError
from lineshaft.mcp.front.connections import Bounded
from lineshaft.mcp.front.events import RETRY_MS, EventBounds, Events
from lineshaft.mcp.front.front import Front
from lineshaft.mcp.front.hosts import LOCAL, Hosts
from lineshaft.mcp.front.presence import CLIENT, Presence, here
from lineshaft.mcp.front.server import FrontServer

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """Where a front listens, and who may come."""

    host: str = "127.0.0.1"
    port: int = 8_765
    """0: any that is free."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """What clients must show."""

    hosts: Sequence[str] = ()
    """Names by which clients may call it, beside those of this machine and `host`."""

    def __post_init__(self) -> None:
        if len(self.token) < _SHORTEST_TOKEN or not self.token.isascii():
            raise ConfigError(
                f"the token needs at least {_SHORTEST_TOKEN} ASCII characters",
                hint='make one: python -c "import secrets; print(secrets.token_urlsafe())"',
            )


PATH = "/mcp"
BODY_BYTES = 4 * 1024 * 1024
_SESSIONS = 1_000
_IDLE_SECONDS = 30 * 60.0
_CLOSE_SECONDS = 2
_OPENED_SECONDS = 30.0
"""A session whose client opened it and did not come back ends after it."""

_BODY_SECONDS = 60.0
"""In which the whole body of a request must have come."""


async def serve_http(
    front: Front, options: HttpOptions, *, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve clients over HTTP until it is cancelled.

    Args:
        front: What is served; its session is entered.
        options: Where, and to whom.
        ready: Called with the address once clients can come.

    Raises:
        ConfigError: The address cannot be listened on.
    """
    with _bound(options) as bound:
        host = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{host}:{bound.getsockname()[1]}{PATH}"
        config = uvicorn.Config(
            app_of(front, options),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=_CLOSE_SECONDS,
            ws="none",
            http=Bounded,
        )
        serving = _Serving(config, lambda: ready(address))
        async with anyio.create_task_group() as group:
            group.start_soon(_serve, serving, bound)
            try:
                await anyio.sleep_forever()
            finally:
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


def app_of(front: Front, options: HttpOptions) -> Starlette:
    """Return the front as an ASGI application, to mount elsewhere; arguments as `serve_http`."""
    server, shelf = FrontServer(front), EventBounds()
    manager = _Sessions(server, shelf)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        del app
        async with manager.run(), server.opened(), anyio.create_task_group() as group:
            group.start_soon(shelf.clear)
            yield
            group.cancel_scope.cancel()

    own = f"[{options.host}]" if ":" in options.host else options.host
    hosts = Hosts((*LOCAL, *options.hosts, own))
    door = _Door(manager.handle_request, options.token, hosts)
    return Starlette(routes=[Route(PATH, endpoint=door)], lifespan=lifespan)


class _Sessions(StreamableHTTPSessionManager):
    """Sessions of the older protocol, each with a store of its own for what it was sent.

    Args:
        server: What answers.
        shelf: Bounds what the stores keep.
    """

    def __init__(self, server: FrontServer, shelf: EventBounds) -> None:
        self._shelf = shelf
        self._came_back: set[str] = set()
        super().__init__(
            server,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            retry_interval=RETRY_MS,
            max_request_body_size=BODY_BYTES,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_SESSIONS,
        )

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and note whose session it is."""
        for session in _headers(scope, b"mcp-session-id"):
            self._came_back.add(session.decode("latin-1"))
        self._came_back &= self._server_instances.keys()
        await super().handle_request(scope, receive, send)

    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        """Begin a session; where there are too many, the one that was idle longest ends for it."""
        if len(self._server_instances) >= _SESSIONS:
            idle = [
                (scope.deadline, session, scope)
                for session, transport in self._server_instances.items()
                if (scope := transport.idle_scope) and math.isfinite(scope.deadline)
            ]
            if idle:
                _, session, scope = min(idle, key=itemgetter(0))
                del self._server_instances[session]
                scope.cancel()
        opened = super()._admit_session(requestor)
        if opened is not None and self._task_group is not None:
            self._task_group.start_soon(self._expect, opened)
        return opened

    async def _expect(self, opened: StreamableHTTPServerTransport) -> None:
        """End a session whose client has not come back soon after it opened it."""
        await anyio.sleep(_OPENED_SECONDS)
        scope = opened.idle_scope
        if opened.mcp_session_id not in self._came_back and scope is not None:
            scope.cancel()

    @property
    def event_store(self) -> EventStore | None:  # pyright: ignore[reportIncompatibleVariableOverride]  the SDK would share one: streams of all sessions have the same names
        """A new store: it is asked for once for each session that begins."""
        return Events(self._shelf)

    @event_store.setter
    def event_store(self, value: EventStore | None) -> None:
        del value


class _Door:
    """Lets in who comes under a known name and shows the token, and notes when a client goes.

    Args:
        app: What is behind it.
        token: What must be shown.
        hosts: The names.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Hosts) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._hosts.knows_host(_headers(scope, b"host")):
            await PlainTextResponse("unknown Host", status_code=421)(scope, receive, send)
            return
        if not self._hosts.knows_origin(_headers(scope, b"origin")):
            await PlainTextResponse("unknown Origin", status_code=403)(scope, receive, send)
            return
        shown = next(iter(_headers(scope, b"authorization")), b"")
        kind, _, token = shown.partition(b" ")
        if kind.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            refused = JSONResponse(
                {"error": "invalid_token", "error_description": "show the bearer token"},
                status_code=401,
                headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
            )
            await refused(scope, receive, send)
            return
        client = scope[CLIENT] = Presence()
        here.set(client)

        until = anyio.current_time() + _BODY_SECONDS

        async def heard() -> Message:
            nonlocal until
            message: Message = {"type": "http.disconnect"}
            with anyio.move_on_at(until):
                message = await receive()
            if message["type"] == "http.disconnect":
                client.closed.set()
            elif not message.get("more_body", False):
                until = math.inf
            return message

        await self._app(scope, heard, send)


def _headers(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


@contextmanager
def _bound(options: HttpOptions) -> Generator[socket.socket]:
    """Listen, before anything else is started."""
    try:
        found = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, proto, _, address = found[0]
        bound = socket.socket(family, kind, proto)
    except OSError as error:
        raise ConfigError(f"cannot listen on {options.host!r}: {error}") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        where = f"{options.host}:{options.port}"
        raise ConfigError(
            f"cannot listen on {where}: {error.strerror}", hint="choose another --port; 0: any"
        ) from error
    with bound:
        yield bound
