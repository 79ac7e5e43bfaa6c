"""A library passed through a front, for tests of what stands beside its tools."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client

from fronts import OPEN, client_of
from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from upstreams.library import Library

ERAS = [False, True]
"""Whether the server behind the front speaks the older protocol alone."""

NO_SECRETS = Policy.from_dict(
    {
        "mode": "open",
        "rules": [
            {
                "id": "hush",
                "tool": "lib.resources/read",
                "arguments": {"uri": "secret://*"},
                "verdict": "deny",
                "reason": "secrets stay here",
            },
            {
                "id": "kind",
                "tool": "lib.prompts/get",
                "arguments": {"name": "blame"},
                "verdict": "deny",
            },
        ],
    }
)


@asynccontextmanager
async def passed(
    library: Library, at: Path, *, policy: Policy = OPEN, trust: bool = True, **options: Any
) -> AsyncGenerator[tuple[Session, Callable[..., Any]]]:
    """Give a session over a library, and what makes clients of one front."""
    upstream = mcp_server(library.offered, name="lib", trust=trust)
    async with Session(
        upstream, workspace=at, policy=policy, store=at / "s.db", **options
    ) as session:
        yield session, partial(client_of, session, passed="lib")


async def watch(client: Client, uri: str) -> None:
    """Watch a resource, in the older protocol."""
    request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    await client.session.send_request(request, types.EmptyResult)
