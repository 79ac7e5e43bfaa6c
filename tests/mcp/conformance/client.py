"""What the conformance suite starts as the client under test: our way in, driven by a scenario.

The suite gives the server's address as last argument, the scenario and what it needs in variables.
Every tool that the server lists is called once, through a session, as a script would.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2

from lineshaft import Limits, Policy, Session
from lineshaft.mcp import ServerSpec
from lineshaft.mcp.client import McpServer, exchanged

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: Mapping[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
KNOWN: Mapping[str, Mapping[str, Any]] = {"add_numbers": {"a": 5, "b": 3}}
BY_TYPE: Mapping[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
LISTS_ONLY = ("initialize", "json-schema-ref-no-deref")


async def authorize(url: str) -> str:
    """Grant access as a person would, and return where the browser is sent."""
    async with httpx2.AsyncClient() as client:
        response = await client.get(url, follow_redirects=False)
    return str(response.headers["location"])


async def elicit(message: str, schema: Mapping[str, object]) -> object:
    """Answer with what the schema says is the default."""
    del message
    properties: Mapping[str, Any] = schema.get("properties") or {}  # pyright: ignore[reportAssignmentType]  any schema
    return {name: each["default"] for name, each in properties.items() if "default" in each}


def arguments_for(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments that fit."""
    if name in KNOWN:
        return KNOWN[name]
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required: list[str] = schema.get("required") or []
    return {key: BY_TYPE.get(properties.get(key, {}).get("type"), "text") for key in required}


def to_do(session: Session) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls that the scenario names, or one of each tool."""
    tools = {name: spec for name, spec in session.tools.items() if name.startswith("server.")}
    if named := CONTEXT.get("toolCalls"):
        # `null` fits none of the schemas: the gate refuses it, and whoever means it leaves it out.
        given = [(each["name"], each["arguments"]) for each in named]
        return [(f"server.{name}", _without_null(arguments)) for name, arguments in given]
    if SCENARIO == "json-schema-2020-12-preservation":
        schema = tools["server.json_schema_2020_12_tool"].input_schema
        return [("server.json_schema_echo", {"schema": schema})]
    return [
        (name, arguments_for(name.partition(".")[2], spec.input_schema))
        for name, spec in tools.items()
    ]


def _without_null(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}


async def issuer_of(url: str) -> str:
    """Return the authorisation server of a server: whoever sets up a company's access knows it."""
    parts = urlsplit(url)
    about = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource{parts.path}"
    async with httpx2.AsyncClient() as client:
        response = await client.get(about)
    return str(response.json()["authorization_servers"][0])


async def spec_for(url: str) -> ServerSpec:
    """Return what the scenario gives us to know of the server."""
    spec = ServerSpec(
        url=url,
        connect_seconds=200,
        redirect="http://localhost:3000/callback",
        client_id=CONTEXT.get("client_id", ""),
        client_secret=CONTEXT.get("client_secret", ""),
        client_key=CONTEXT.get("private_key_pem", ""),
        key_algorithm=CONTEXT.get("signing_algorithm", "RS256"),
        client_metadata_url="https://conformance-test.local/client-metadata.json",
        issuer=CONTEXT.get("issuer", ""),
    )
    if "client-credentials" in SCENARIO:
        return replace(spec, grant="client_credentials")
    if "idp_id_token" in CONTEXT:
        assertion = exchanged(
            CONTEXT["idp_id_token"],
            url=CONTEXT["idp_token_endpoint"],
            client_id=CONTEXT["idp_client_id"],
        )
        issuer = await issuer_of(url)
        return replace(spec, grant="jwt_bearer", issuer=issuer, assertion=assertion)
    if "valid_jwt" in CONTEXT:
        assertion, issuer = CONTEXT["valid_jwt"], await issuer_of(url)
        return replace(spec, grant="jwt_bearer", issuer=issuer, assertion=assertion)
    return spec


async def main(url: str) -> int:
    spec = await spec_for(url)
    source = McpServer(spec, name="server", authorize=authorize)
    policy = Policy.from_dict({"mode": "open"})
    limits = Limits(call_seconds=200)
    async with Session(
        [source], policy=policy, limits=limits, elicit=elicit, store=False
    ) as session:
        await source.ready()
        sys.stderr.write(f"{SCENARIO}: {source.protocol} {source.problem!r} {list(source.tools)}\n")
        for name, arguments in () if SCENARIO in LISTS_ONLY else to_do(session):
            result = await session.call(name, arguments)
            sys.stderr.write(f"{name}: {result.status} {result.value!r:.200} {result.error}\n")
    return 0 if source.tools or not source.problem else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        status = asyncio.run(main(sys.argv[-1]))
    sys.exit(status)
