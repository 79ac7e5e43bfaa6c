"""A front over HTTP: bearer token, Host and Origin looked at, requests of bounded size.

Not covered: TLS, and more than one token. Behind a proxy that does both, name its host.
"""

import math
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from http import HTTPStatus
from operator import itemgetter

import anyio
import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
from mcp.server.streamable_http import EventStore, StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from msgspec import field
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineshaft.http import LOCAL, Door, Hosts, headers_of, listen, listening, token_of
from lineshaft.mcp.front.events import RETRY_MS, EventBounds, Events
from lineshaft.mcp.front.front import Front
from lineshaft.mcp.front.presence import CLIENT, Presence, here
from lineshaft.mcp.front.server import FrontServer
from lineshaft.mcp.front.unreadable import Unreadable, message_in
from lineshaft.values import Struct


class HttpOptions(Struct, frozen=True, kw_only=True):
    """The address of a front, and who may connect."""

    __unshown__ = frozenset({"token"})

    host: str = "127.0.0.1"
    """The address of this machine that it listens at."""

    port: int = 8_765
    """0: any that is free."""

    token: str = field(default_factory=token_of)
    """What clients must show."""

    hosts: Sequence[str] = ()
    """Names by which clients may call it, beside those of this machine and `host`."""

    def __post_init__(self) -> None:
        token_of(self.token)


PATH = "/mcp"
BODY_BYTES = 4 * 1024 * 1024
_SESSION = b"mcp-session-id"
_VERSION = b"mcp-protocol-version"
_VERSIONS = frozenset(
    each.encode() for each in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
)
_NO_SESSION = -32_001
_NONE_NAMED = "Bad Request: Missing session ID"
"""As the SDK says it."""

_SESSIONS = 1_000
_IDLE_SECONDS = 30 * 60.0
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
    with listening(options.host, options.port) as bound:
        host = f"[{options.host}]" if ":" in options.host else options.host
        address = f"http://{host}:{bound.getsockname()[1]}{PATH}"
        clients = _Clients()
        app = app_of(front, options, clients)
        await listen(app, bound, ready=lambda: ready(address), leaving=clients.leave)


def app_of(front: Front, options: HttpOptions, clients: "_Clients | None" = None) -> Starlette:
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
    watched = _Watched(manager.handle_request, clients or _Clients())
    door = Door(watched, options.token, hosts)
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
        self._events: dict[str, Events] = {}
        self._newest = Events(shelf)
        super().__init__(
            server,
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            retry_interval=RETRY_MS,
            max_request_body_size=BODY_BYTES,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_SESSIONS,
        )

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and note whose session it is.

        Where one of a session names a version that nobody knows, the SDK would take it for one of
        the newest protocol, and say what it lacks to be that.
        """
        sessions = headers_of(scope, _SESSION)
        if sessions and (unknown := set(headers_of(scope, _VERSION)) - _VERSIONS):
            version = unknown.pop().decode("latin-1")
            spoken = ", ".join(sorted(each.decode() for each in _VERSIONS))
            text = f"the protocol version {version[:40]!r} is not spoken; spoken are {spoken}"
            await _refusal(types.INVALID_REQUEST, text, status=400)(scope, receive, send)
            return
        for session in sessions:
            self._came_back.add(session.decode("latin-1"))
        self._came_back &= self._server_instances.keys()
        # The SDK knows the media type in small letters alone.
        headers = [(k, v.lower() if k == b"content-type" else v) for k, v in scope["headers"]]
        await super().handle_request({**scope, "headers": headers}, receive, send)

    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a session that there is not as the TypeScript SDK does.

        The protocol names the status alone, and clients look at the code: with the Python SDK's
        some do not begin another session. Only `initialize` opens one: for all else the SDK would
        open one to refuse it, and one that is in use might end for it.
        """
        named = next((each.decode("latin-1") for each in headers_of(scope, _SESSION)), None)
        if named is not None and named not in self._server_instances:
            await _refusal(_NO_SESSION, "Session not found", status=404)(scope, receive, send)
        elif scope["method"] == "POST":
            await self._take(named, scope, receive, send)
        elif named is None and scope["method"] in ("GET", "DELETE"):
            await _refusal(types.INVALID_REQUEST, _NONE_NAMED, status=400)(scope, receive, send)
        else:
            await super()._handle_stateful_request(scope, receive, send)

    async def _take(self, session: str | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a message to its session, where it is one that can be answered."""
        arrived = await receive()  # with the whole body: the SDK has collected it
        found = message_in(arrived.get("body", b""), BODY_BYTES, place="request")
        if isinstance(found, Unreadable):
            if not (found.is_answer and found.has_id):
                error = found.error.model_dump(mode="json", exclude_unset=True)
                await JSONResponse(error, status_code=400)(scope, receive, send)
                return
            # What it was to answer fails, rather than to wait on.
            arrived = {**arrived, "body": found.error.model_dump_json().encode()}
        request = found.id if isinstance(found, types.JSONRPCRequest) else None
        opens = isinstance(found, types.JSONRPCRequest) and found.method == "initialize"
        if session is None and not opens:
            await _refusal(types.INVALID_REQUEST, _NONE_NAMED, status=400)(scope, receive, send)
            return
        events = None if session is None else self._events.get(session)
        if events and request is not None and not events.take(request):
            text = f"a request with the id {request!r} is under way in this session"
            await _refusal(types.INVALID_REQUEST, text, status=400)(scope, receive, send)
            return
        waiting, taken = [arrived], False

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        async def answered(message: Message) -> None:
            nonlocal taken
            taken = taken or message.get("status") == HTTPStatus.OK
            await send(message)

        try:
            await super()._handle_stateful_request(scope, again, answered)
        finally:
            if events and request is not None and not taken:
                events.refused(request)

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
        if opened is not None and opened.mcp_session_id is not None:
            self._events[opened.mcp_session_id] = self._newest
        if opened is not None and self._task_group is not None:
            self._task_group.start_soon(self._expect, opened)
        return opened

    async def _expect(self, opened: StreamableHTTPServerTransport) -> None:
        """End a session whose client has not come back soon after it opened it."""
        await anyio.sleep(_OPENED_SECONDS)
        scope = opened.idle_scope
        if opened.mcp_session_id not in self._came_back and scope is not None:
            scope.cancel()

    async def _discard_session(
        self, session_id: str, transport: StreamableHTTPServerTransport
    ) -> None:
        """Forget a session that has ended."""
        self._events.pop(session_id, None)
        await super()._discard_session(session_id, transport)

    @property
    def event_store(self) -> EventStore | None:  # pyright: ignore[reportIncompatibleVariableOverride]  the SDK would share one: streams of all sessions have the same names
        """A new store: it is asked for once for each session that begins."""
        self._newest = Events(self._shelf)
        return self._newest

    @event_store.setter
    def event_store(self, value: EventStore | None) -> None:
        del value


def _refusal(code: int, message: str, *, status: int) -> JSONResponse:
    error = {"code": code, "message": message}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=status)


class _Clients:
    """The clients of the requests that are under way."""

    def __init__(self) -> None:
        self._here: set[Presence] = set()

    @contextmanager
    def one(self) -> Generator[Presence]:
        """Return one more client, which is there as long as the block lasts."""
        client = Presence()
        self._here.add(client)
        try:
            yield client
        finally:
            self._here.discard(client)

    def leave(self) -> None:
        """End what they wait for: the server ends, and none of them comes back."""
        for client in self._here:
            client.end()


class _Watched:
    """Notes when a client goes, and bounds the time in which a body comes.

    Args:
        app: What is behind it.
        clients: Has each client as long as its request is under way.
    """

    def __init__(self, app: ASGIApp, clients: _Clients) -> None:
        self._app = app
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._clients.one() as client:
            await self._answer(client, scope, receive, send)

    async def _answer(self, client: Presence, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CLIENT] = client
        here.set(client)

        until = anyio.current_time() + _BODY_SECONDS
        endless = scope["method"] == "GET"
        answering = False

        async def heard() -> Message:
            nonlocal until
            message: Message = {"type": "http.disconnect"}
            with anyio.CancelScope(deadline=until) as waiting:
                with client.ending(waiting) if endless else nullcontext():
                    message = await receive()
            if message["type"] == "http.disconnect":
                client.closed.set()
            elif not message.get("more_body", False):
                until = math.inf
            return message

        async def said(message: Message) -> None:
            nonlocal answering
            answering = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        with suppress(ClientDisconnect):  # in the middle of a body: nobody waits for an answer
            await self._app(scope, heard, said)
        if answering and client.ended:
            await send({"type": "http.response.body"})
