"""A vault behind OAuth: whoever asks gets a code, a code gets a token, a token opens the vault.

Its argument is the port. Each grant is written to standard output, one line each. `POST /end` ends
all tokens, also those that are to be refreshed with `{"refresh": true}`; `{"seconds": N}` says how
long those that come next last; `{"clients": true}` forgets who registered.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urlencode

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

PORT = int(sys.argv[1])
HERE = f"http://127.0.0.1:{PORT}"
TOKEN = "token-of-the-vault"  # noqa: S105  of no use elsewhere


class State:
    """What is known of tokens: the newest opens the vault, and the newest refreshes."""

    count = 0
    token = TOKEN
    refresh = ""
    seconds = 3600
    client = ""


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        known = token == State.token
        return AccessToken(token=token, client_id="c", scopes=["vault"]) if known else None


async def metadata(_request: Request) -> Response:
    return JSONResponse(
        {
            "issuer": f"{HERE}/",
            "authorization_endpoint": f"{HERE}/authorize",
            "token_endpoint": f"{HERE}/oauth/token",
            "registration_endpoint": f"{HERE}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
    )


async def register(request: Request) -> Response:
    given = await request.json()
    State.count += 1
    State.client = f"c-{State.count}"
    return JSONResponse({**given, "client_id": State.client}, status_code=201)


async def authorize(request: Request) -> Response:
    asked = request.query_params
    back = urlencode({"code": "code-1", "state": asked["state"]})
    return RedirectResponse(f"{asked['redirect_uri']}?{back}", status_code=302)


async def token(request: Request) -> Response:
    form = await request.form()
    if form["client_id"] != State.client:
        return JSONResponse({"error": "invalid_client"}, status_code=401)
    if form["grant_type"] == "refresh_token" and form["refresh_token"] != State.refresh:
        return JSONResponse({"error": "invalid_grant"}, status_code=400)
    sys.stdout.write(f"{form['grant_type']}\n")
    sys.stdout.flush()
    State.count += 1
    State.token, State.refresh = f"token-{State.count}", f"refresh-{State.count}"
    known = {"access_token": State.token, "refresh_token": State.refresh}
    return JSONResponse({**known, "token_type": "Bearer", "expires_in": State.seconds})


async def end(request: Request) -> Response:
    given = await request.json()
    State.token = "none"  # noqa: S105  what no client has
    State.seconds = given.get("seconds", 3600)
    if given.get("refresh"):
        State.refresh = ""
    if given.get("clients"):
        State.client = ""
    return JSONResponse({})


def content() -> str:
    """Return what is in the vault."""
    return "gold"


def app() -> Starlette:
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(HERE),
        resource_server_url=AnyHttpUrl(f"{HERE}/mcp"),
        validate_token_resource=False,
    )
    server = MCPServer("vault", auth=settings, token_verifier=Verifier(), log_level="ERROR")
    server.tool()(content)
    inner = server.streamable_http_app()
    routes = [
        Route("/.well-known/oauth-authorization-server", metadata),
        Route("/register", register, methods=["POST"]),
        Route("/authorize", authorize),
        Route("/oauth/token", token, methods=["POST"]),
        Route("/end", end, methods=["POST"]),
        Mount("/", inner),
    ]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with inner.router.lifespan_context(inner):
            yield

    return Starlette(routes=routes, lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(app(), port=PORT, log_level="error")
