"""Servers that the first question of the newest protocol ends, or that do not answer it."""

from pathlib import Path

import pytest
from mcp.client import session as client_session

from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

OPEN = Policy.from_dict({"mode": "open"})
FINE = "return await n.fine()"


@pytest.mark.parametrize("kind", ["ends", "silent"])
async def test_it_is_used_and_asked_the_newer_question_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_session, "DISCOVER_TIMEOUT_SECONDS", 0.5)
    notes = tmp_path / "notes"
    command = python_server("narrow", kind, str(notes))
    for _ in range(2):
        async with Session(
            [mcp_server(command, name="n")], workspace=tmp_path, policy=OPEN, store=False
        ) as session:
            values = [(await session.run(FINE)).value]
            await session.run("return await n.end()")
            values.append((await session.run(FINE)).value)
        assert values == ["fine", "fine"]
    asked = notes.read_text().split()
    assert asked.count("server/discover") == 1
    assert asked.count("initialize") == 4


async def test_an_address_that_leaves_the_question_open_is_used_and_asked_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_session, "DISCOVER_TIMEOUT_SECONDS", 0.5)
    port = free_port()
    async with listening(python_server("hostile_http", "unmoved", str(port)), port):
        for _ in range(2):
            source = mcp_server(f"http://127.0.0.1:{port}/mcp", name="n")
            async with Session([source], policy=OPEN, store=False) as session:
                assert (await session.call("n.wrong")).value == "1"


async def test_a_program_that_ends_anyway_is_asked_again_the_next_time(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()  # it fails whatever it is asked
    command = python_server("narrow", "ends", str(notes))
    source = mcp_server(command, name="n")
    async with source.opened(lambda: None):
        await source.ready()
        assert "IsADirectoryError" in source.problem
    notes.rmdir()
    source = mcp_server(command, name="n")
    async with source.opened(lambda: None):
        await source.ready()
        assert source.problem == ""
    assert notes.read_text().split()[0] == "server/discover"
