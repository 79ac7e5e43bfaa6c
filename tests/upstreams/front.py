"""A session over another server, served: `front.py stdio` or `front.py http`."""

import os
import subprocess
import sys
from pathlib import Path

import anyio

from lineshaft import Policy, Session, tool
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.front import Front, HttpOptions, serve_http, serve_stdio


@tool(effect="read")
async def noise() -> str:
    """Write where only the protocol may."""
    print("printed")  # noqa: T201  what users' tools do
    os.write(1, b"written\n")
    subprocess.run(["echo", "echoed"], check=True)  # noqa: ASYNC221  as above
    return "noisy"


@tool(effect="read")
async def hang() -> str:
    """Never answer."""
    Path("hangs").touch()
    await anyio.sleep_forever()
    return ""


@tool(effect="external")
async def put(what: str) -> str:
    """Put something somewhere."""
    return what


async def main() -> None:
    """Serve until the client has gone."""
    here = Path(__file__).parent
    upstream = mcp_server([sys.executable, str(here / "plain.py")], name="shop", trust=True)
    rule = {"id": "r", "tool": "put", "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    tools = [noise, hang, put, upstream]
    async with Session(tools, policy=policy, store=Path("store.db")) as session:
        front = Front(session, direct=["shop.*"])
        if sys.argv[1] == "stdio":
            await serve_stdio(front)
        else:
            options = HttpOptions(port=0, token=os.environ["TOKEN"])
            await serve_http(front, options, ready=tell)


def tell(address: str) -> None:
    """Tell whoever started this where it listens."""
    print(address, file=sys.stderr, flush=True)  # noqa: T201  a program of its own


if __name__ == "__main__":
    anyio.run(main)
