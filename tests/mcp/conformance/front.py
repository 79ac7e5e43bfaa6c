"""The fixtures of the suite, passed through a front over HTTP; `LINESHAFT_SERVE_TOKEN` opens it."""

import os
import sys

import anyio
from fixtures import fixtures

from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.front import Front, HttpOptions, serve_http


async def main() -> None:
    """Serve until this is ended."""
    upstream = mcp_server(fixtures(), name="fixtures", trust=True)
    policy = Policy.from_dict({"mode": "open"})
    async with Session(upstream, policy=policy, store=False) as session:
        await session.ready()
        options = HttpOptions(port=0, token=os.environ["LINESHAFT_SERVE_TOKEN"])
        await serve_http(Front(session, passed="fixtures"), options, ready=tell)


def tell(address: str) -> None:
    """Tell whoever started this where it listens."""
    print(address, file=sys.stderr, flush=True)  # noqa: T201  a program of its own


if __name__ == "__main__":
    anyio.run(main)
