"""Servers that want to know who asks: access is granted once, and kept for its owner alone."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import httpx2
import pytest
from msgspec.structs import replace

from lineshaft import Policy, Session
from lineshaft.errors import ConfigError
from lineshaft.mcp import ServerSpec
from lineshaft.mcp.client import McpServer, loopback
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

OPEN = Policy.from_dict({"mode": "open"})


@asynccontextmanager
async def vault() -> AsyncGenerator[tuple[str, "subprocess.Popen[str]"]]:
    """Give the address of the vault, and its process, which tells of each grant."""
    port = free_port()
    async with listening(python_server("guarded", str(port)), port) as process:
        yield f"http://127.0.0.1:{port}/mcp", process


async def content(source: McpServer) -> object:
    async with Session([source], policy=OPEN, store=False) as session:
        result = await session.call("vault.content")
        return result.value if result.error is None else source.problem


async def test_access_is_granted_once_and_kept_for_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shown: list[str] = []
    redirect = f"http://127.0.0.1:{free_port()}/callback"

    async with vault() as (url, process), anyio.create_task_group() as tasks:
        spec = ServerSpec(url=url, redirect=redirect)

        def show(address: str) -> None:
            shown.append(address)
            tasks.start_soon(browse, address)

        granting = partial(McpServer, spec, name="vault", authorize=loopback(show, redirect))
        assert await content(granting()) == "gold"
        assert await content(granting()) == "gold"
        assert await content(McpServer(spec, name="vault")) == "gold"
        process.kill()
        assert process.stdout is not None
        assert process.stdout.read().splitlines() == ["authorization_code"]
    assert len(shown) == 1
    kept = list((tmp_path / "lineshaft" / "mcp").iterdir())
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    assert (tmp_path / "lineshaft" / "mcp").stat().st_mode & 0o777 == 0o700


async def granted(url: str, redirect: str) -> str:
    """Have access granted by a person, and return what the vault has."""
    found: list[object] = []
    async with anyio.create_task_group() as tasks:

        def show(address: str) -> None:
            tasks.start_soon(browse, address)

        spec = ServerSpec(url=url, redirect=redirect)
        source = McpServer(spec, name="vault", authorize=loopback(show, redirect))
        found.append(await content(source))
    return str(found[0])


async def end_tokens(url: str, **what: object) -> None:
    """Have the vault end its tokens."""
    async with httpx2.AsyncClient() as client:
        response = await client.post(url.replace("/mcp", "/end"), json=what)
        assert response.status_code == 200


def grants(process: "subprocess.Popen[str]") -> list[str]:
    """End the vault, and return what it granted."""
    process.kill()
    assert process.stdout is not None
    return process.stdout.read().splitlines()


@pytest.fixture
def kept_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where access is kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "lineshaft" / "mcp"


@pytest.mark.parametrize("older", [False, True], ids=["kept now", "kept by an older version"])
async def test_access_that_has_ended_is_renewed_without_a_person(
    older: bool, kept_at: Path
) -> None:
    async with vault() as (url, process):
        spec = ServerSpec(url=url, redirect=f"http://127.0.0.1:{free_port()}/callback")
        assert await granted(url, spec.redirect) == "gold"
        if older:
            [file] = kept_at.glob("*.json")
            kept = json.loads(file.read_text())
            del kept["places"], kept["tokens"]["ends_at"]
            file.write_text(json.dumps(kept))
        await end_tokens(url)
        assert await content(McpServer(spec, name="vault")) == "gold"
        assert await content(McpServer(spec, name="vault")) == "gold"
        assert grants(process) == ["authorization_code", "refresh_token"]


@pytest.mark.usefixtures("kept_at")
async def test_access_that_was_granted_to_one_client_is_not_anothers() -> None:
    async with vault() as (url, _):
        spec = ServerSpec(url=url, redirect=f"http://127.0.0.1:{free_port()}/callback")
        assert await granted(url, spec.redirect) == "gold"
        told = await content(McpServer(replace(spec, client_id="another"), name="vault"))
    assert "no person is there to ask" in str(told)


@pytest.mark.usefixtures("kept_at")
async def test_access_whose_time_is_over_is_renewed_before_it_is_shown() -> None:
    async with vault() as (url, process):
        spec = ServerSpec(url=url, redirect=f"http://127.0.0.1:{free_port()}/callback")
        await end_tokens(url, seconds=-10)
        assert await granted(url, spec.redirect) == "gold"
        assert await content(McpServer(spec, name="vault")) == "gold"
        found = grants(process)
    assert found[0] == "authorization_code"
    assert set(found[1:]) == {"refresh_token"}


@pytest.mark.usefixtures("kept_at")
async def test_access_that_another_process_renewed_is_used() -> None:
    async with vault() as (url, process):
        spec = ServerSpec(url=url, redirect=f"http://127.0.0.1:{free_port()}/callback")
        await granted(url, spec.redirect)
        first, second = McpServer(spec, name="vault"), McpServer(spec, name="vault")
        async with Session([first], policy=OPEN, store=False) as session:
            assert (await session.call("vault.content")).value == "gold"
            await end_tokens(url)
            assert await content(second) == "gold"
            assert (await session.call("vault.content")).value == "gold"
        assert grants(process) == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("clients", [False, True], ids=["token", "registration"])
@pytest.mark.usefixtures("kept_at")
async def test_where_access_cannot_be_renewed_a_person_is_asked(clients: bool) -> None:
    async with vault() as (url, process):
        redirect = f"http://127.0.0.1:{free_port()}/callback"
        await granted(url, redirect)
        await end_tokens(url, refresh=True, clients=clients)
        alone = ServerSpec(url=url, redirect=redirect)
        assert "no person is there to ask" in str(await content(McpServer(alone, name="vault")))
        assert await granted(url, redirect) == "gold"
        assert grants(process) == ["authorization_code", "authorization_code"]


@pytest.mark.usefixtures("kept_at")
async def test_access_that_ends_between_two_calls_is_told_as_that_and_can_come_back() -> None:
    async with vault() as (url, _):
        redirect = f"http://127.0.0.1:{free_port()}/callback"
        await granted(url, redirect)
        source = McpServer(ServerSpec(url=url, redirect=redirect), name="vault")
        async with Session([source], policy=OPEN, store=False) as session:
            assert (await session.call("vault.content")).value == "gold"
            await end_tokens(url, refresh=True)
            for _ in range(2):
                refused = await session.call("vault.content")
                assert refused.error is not None
                assert "no person is there to ask" in refused.error.message
                assert "may have happened" not in refused.error.message
            await granted(url, redirect)
            assert (await session.call("vault.content")).value == "gold"


async def browse(address: str) -> None:
    """Do what a person's browser does, which also asks for an icon."""
    async with httpx2.AsyncClient() as client:
        response = await client.get(address)
        back = response.headers["location"]
        icon = await client.get(back.replace("/callback", "/favicon.ico"))
        assert icon.status_code == 404
        assert "close this page" in (await client.get(back)).text


async def test_a_connection_without_a_request_ends_no_grant() -> None:
    port = free_port()
    came_back = f"http://127.0.0.1:{port}/callback?code=1"

    async def browser() -> None:
        for begun in (b"", b"GET /callback?code=0"):
            async with await anyio.connect_tcp("127.0.0.1", port) as ahead:
                await ahead.send(begun)
        async with httpx2.AsyncClient() as client:
            assert (await client.get(came_back)).status_code == 200

    async with anyio.create_task_group() as tasks:

        def show(address: str) -> None:
            assert address == "https://vault.test/"
            tasks.start_soon(browser)

        grant = loopback(show, f"http://127.0.0.1:{port}/callback")
        assert await grant("https://vault.test/") == "/callback?code=1"


async def test_servers_that_ask_at_once_are_granted_access_one_after_the_other() -> None:
    port, answers = free_port(), dict[str, str]()

    async with anyio.create_task_group() as tasks:

        async def browser(code: str) -> None:
            async with httpx2.AsyncClient() as client:
                await client.get(f"http://127.0.0.1:{port}/callback?code={code}")

        def show(address: str) -> None:
            tasks.start_soon(browser, address[-1])

        async def ask(code: str) -> None:
            answers[code] = await grant(f"https://vault.test/{code}")

        grant = loopback(show, f"http://127.0.0.1:{port}/callback")
        for code in "123":
            tasks.start_soon(ask, code)
    assert answers == {code: f"/callback?code={code}" for code in "123"}


async def test_a_redirect_where_another_program_listens_is_told() -> None:
    port = free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    async with await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port):
        with pytest.raises(ConfigError, match=f"cannot come back to '{redirect}'") as caught:
            await loopback(lambda _: None, redirect)("https://vault.test/")
    assert "ServerSpec(redirect=" in caught.value.hint


async def test_nobody_to_ask_is_told() -> None:
    async with vault() as (url, _process):
        found = str(await content(McpServer(url, name="vault")))
    assert "access to be granted" in found
    assert "no person is there to ask" in found


async def test_access_that_is_not_granted_is_told() -> None:
    async def refuse(url: str) -> str:
        del url
        return "http://127.0.0.1:1/callback?error=access_denied"

    async with vault() as (url, _process):
        found = str(await content(McpServer(url, name="vault", authorize=refuse)))
    assert "access was not granted: access_denied" in found


async def test_a_header_that_is_given_is_all_that_is_sent() -> None:
    async with vault() as (url, _process):
        right = ServerSpec(url=url, headers={"Authorization": "Bearer token-of-the-vault"})
        wrong = ServerSpec(url=url, headers={"authorization": "Bearer something"})
        assert await content(McpServer(right, name="vault")) == "gold"
        assert "401" in str(await content(McpServer(wrong, name="vault")))


def test_secrets_of_a_definition_are_not_shown() -> None:
    spec = ServerSpec(
        url="https://example.org/mcp",
        headers={"Authorization": "Bearer hidden-1"},
        env={"KEY": "hidden-2"},
        client_id="c",
        client_secret="hidden-3",  # noqa: S106  looked for in what is shown
        client_key="hidden-4",
        grant="client_credentials",
    )
    assert "hidden" not in repr(spec)
    with pytest.raises(ConfigError, match="needs client_id, and client_secret, client_key"):
        ServerSpec(url="https://example.org/mcp", grant="client_credentials")
    assert sys.executable not in repr(spec)
