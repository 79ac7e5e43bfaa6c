"""What a server says of the use of its tools, as a client of a front is told it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from fronts import OPEN, client_of, text_of
from lineshaft import Session
from lineshaft.mcp import server as mcp_server
from upstreams.real import python_server


@asynccontextmanager
async def shop(at: Path) -> AsyncGenerator[Client]:
    """Give a client of a front before a shop and a server that says nothing."""
    sources = [
        mcp_server(python_server("plain"), name="my-shop", trust=True),
        mcp_server(python_server("odd"), name="odd", trust=True),
    ]
    async with Session(sources, workspace=at, policy=OPEN, store=False) as session:
        await session.ready()
        async with client_of(session) as client:
            yield client


@pytest.mark.parametrize("name", ["my-shop", "my_shop"])
async def test_a_server_is_described_by_its_name_with_what_it_says(
    name: str, tmp_path: Path
) -> None:
    async with shop(tmp_path) as client:
        told = await client.call_tool("describe", {"names": [name]})
    assert not told.is_error
    first, *said = text_of(told).splitlines()
    assert first.startswith("my-shop: ")
    assert "search" in first
    assert said == ["> Orders are numbered from 1."]


async def test_a_description_of_a_tool_names_where_its_server_tells_more(tmp_path: Path) -> None:
    async with shop(tmp_path) as client:
        told = text_of(await client.call_tool("describe", {"names": ["my-shop.orders"]}))
        other = text_of(await client.call_tool("describe", {"names": ["odd.print"]}))
    assert told.splitlines()[-1] == ("my-shop tells how its tools are used: describe 'my-shop'")
    assert "numbered" not in told
    assert "tells how" not in other


async def test_a_name_of_nothing_is_told_beside_a_server(tmp_path: Path) -> None:
    async with shop(tmp_path) as client:
        told = await client.call_tool("describe", {"names": ["my-shop", "shops"]})
        alone = await client.call_tool("describe", {"names": ["shops"]})
    assert not told.is_error
    assert "there is no tool 'shops'" in text_of(told)
    assert alone.is_error
