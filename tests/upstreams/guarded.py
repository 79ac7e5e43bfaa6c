"""A vault behind OAuth: whoever asks gets a code, a code gets a token, a token opens the vault.

Its argument is the port. Each grant is written to standard output, one line each.
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


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        known = token == TOKEN
        return AccessToken(token=token, client_id="c", scopes=["vault"]) if known else None


async def metadata(_request: Request) -> Response:
    return JSONResponse(
        {
            "issuer": f"{HERE}/",
            "authorization_endpoint": f"{HERE}/authorize",
            "token_endpoint": f"{HERE}/token",
            "registration_endpoint": f"{HERE}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
    )


async def register(request: Request) -> Response:
    given = await request.json()
    return JSONResponse({**given, "client_id": "c-1"}, status_code=201)


async def authorize(request: Request) -> Response:
    asked = request.query_params
    back = urlencode({"code": "code-1", "state": asked["state"]})
    return RedirectResponse(f"{asked['redirect_uri']}?{back}", status_code=302)


async def token(request: Request) -> Response:
    form = await request.form()
    sys.stdout.write(f"{form['grant_type']}\n")
    sys.stdout.flush()
    return JSONResponse({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})


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
        Route("/token", token, methods=["POST"]),
        Mount("/", inner),
    ]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with inner.router.lifespan_context(inner):
            yield

    return Starlette(routes=routes, lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(app(), port=PORT, log_level="error")
