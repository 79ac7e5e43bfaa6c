"""A vault that opens for assertions, its authorisation server, and a company's identity provider.

Its argument is the port. Each request for a token is written to standard output, one line of JSON
each: where it came, its form, and the header by which the client named itself.
"""

import json
import sys
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

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
GOOD: set[str] = set()
GIVEN: list[str] = []
TYPES = "urn:ietf:params:oauth:token-type"


class Verifier:
    async def verify_token(self, token: str) -> AccessToken | None:
        known = token in GOOD
        return AccessToken(token=token, client_id="c", scopes=["vault"]) if known else None


async def metadata(request: Request) -> Response:
    """Say where tokens are given; some issuers of this place say what is wrong."""
    name = request.path_params.get("issuer", "")
    endpoint: object = f"{HERE}/token"
    match name:
        case "moved":
            return RedirectResponse(f"{HERE}/.well-known/oauth-authorization-server")
        case "large":
            return Response("x" * 200_000)
        case "empty":
            endpoint = None
        case "elsewhere":
            endpoint = f"http://127.0.0.1:{PORT + 1}/token"
        case _:
            pass
    issuer = f"{HERE}/{name}" if name != "another" else f"{HERE}/third"
    found = {"issuer": issuer, "token_endpoint": endpoint, "response_types_supported": ["code"]}
    if name == "form":
        found["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    # what clients of the SDK want to be there
    return JSONResponse({**found, "authorization_endpoint": f"{HERE}/authorize"})


async def tell(request: Request) -> dict[str, str]:
    form = {name: str(value) for name, value in (await request.form()).items()}
    named = request.headers.get("authorization", "").removeprefix("Basic ")
    line = {"at": request.url.path, "form": form, "named": b64decode(named).decode()}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
    return form


async def token(request: Request) -> Response:
    form = await tell(request)
    assertion = form.get("assertion") or form.get("client_assertion") or ""
    if "refused" in assertion:
        said = f"nobody vouches for {assertion}"
        return JSONResponse({"error": "invalid_grant", "error_description": said}, status_code=400)
    if assertion == "odd-assertion":
        return JSONResponse(["no object"])
    GIVEN.append(f"token-{len(GIVEN)}")
    GOOD.add(GIVEN[-1])
    return JSONResponse({"access_token": GIVEN[-1], "token_type": "Bearer", "expires_in": 3600})


async def exchange(request: Request) -> Response:
    form = await tell(request)
    if form["subject_token"] == "stranger":  # noqa: S105  a made-up token
        return Response("no", status_code=403)
    kind = "id-jag" if form["subject_token"] != "plain" else "access_token"  # noqa: S105  as above
    return JSONResponse(
        {
            "access_token": f"assertion-of-{form['subject_token']}",
            "issued_token_type": f"{TYPES}:{kind}",
        }
    )


async def revoke(_request: Request) -> Response:
    GOOD.clear()
    return Response()


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
    about = "/.well-known/oauth-authorization-server"
    routes = [
        Route(about, metadata),
        Route(f"{about}/{{issuer}}", metadata),
        Route("/token", token, methods=["POST"]),
        Route("/company/token", exchange, methods=["POST"]),
        Route("/revoke", revoke, methods=["POST"]),
        Mount("/", inner),
    ]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with inner.router.lifespan_context(inner):
            yield

    return Starlette(routes=routes, lifespan=lifespan)


if __name__ == "__main__":
    uvicorn.run(app(), port=PORT, log_level="error")
