"""The door of a server: a known name, a known origin and the token, for requests and WebSockets."""

import hmac
import secrets

from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lineshaft.errors import ConfigError
from lineshaft.http._hosts import Hosts

_SHORTEST_TOKEN = 16


def token_of(given: str | None = None) -> str:
    """Return a token that clients must show: a new one, or the one given.

    Raises:
        ConfigError: It is too short to be safe, or not of ASCII characters.
    """
    token = secrets.token_urlsafe(32) if given is None else given
    if len(token) < _SHORTEST_TOKEN or not token.isascii():
        raise ConfigError(
            f"the token needs at least {_SHORTEST_TOKEN} ASCII characters",
            hint='make one: python -c "import secrets; print(secrets.token_urlsafe())"',
        )
    return token


class Door:
    """Lets in who comes under a known name, from no foreign page, and shows the token.

    A client that is no browser sends no origin, and is let in without one. A browser asks first
    what a page of a known origin may send, and shows no token for that; it may read the answers.

    Args:
        app: What is behind it.
        token: What must be shown, as `Authorization: Bearer TOKEN`.
        hosts: The names.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Hosts) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = hosts
        self._known = _KnownPages(
            self._shown,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("*",),
            expose_headers=("Mcp-Session-Id", "Mcp-Protocol-Version", "WWW-Authenticate"),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on who may come in; others get 421, 403 or 401, a WebSocket 403 before it opens."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if not self._hosts.knows_host(headers_of(scope, b"host")):
            await _refuse(PlainTextResponse("unknown Host", status_code=421), scope, receive, send)
        elif not self._hosts.knows_origin(headers_of(scope, b"origin")):
            refused = PlainTextResponse("unknown Origin", status_code=403)
            await _refuse(refused, scope, receive, send)
        else:
            await self._known(scope, receive, send)

    async def _shown(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on who shows the token."""
        shown = next(iter(headers_of(scope, b"authorization")), b"")
        kind, _, token = shown.partition(b" ")
        if kind.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token):
            await self._app(scope, receive, send)
            return
        # Clients show the words; without a token the standard has no error (RFC 6750, 3.1).
        wrong = "the token is another" if token else "no token was shown"
        text = f"{wrong}: send this server's own as `Authorization: Bearer TOKEN`; no OAuth here"
        error = ' error="invalid_token"' if token else ""
        refused = JSONResponse(
            {"error": "invalid_token", "error_description": text},
            status_code=401,
            headers={"WWW-Authenticate": f"Bearer{error}"},
        )
        await _refuse(refused, scope, receive, send)


class _KnownPages(CORSMiddleware):
    """Tells browsers what pages may do whose origin the door knows."""

    def is_allowed_origin(self, origin: str) -> bool:
        """Return that it is: the door has looked."""
        del origin
        return True


async def _refuse(refused: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await refused(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})


def headers_of(scope: Scope, name: bytes) -> list[bytes]:
    """Return what a request has under the name of a header, in small letters."""
    return [value for key, value in scope["headers"] if key == name]
