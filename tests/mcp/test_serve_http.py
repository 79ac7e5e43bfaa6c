"""A session served over HTTP: who may come, many at once, and what becomes of those who leave."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from fronts import MODES, Mode, Person, accepts, data_of
from lineshaft.store import Store
from upstreams.addresses import end
from upstreams.real import SERVERS, node, npm_package

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone
FRONT = [sys.executable, str(SERVERS / "front.py"), "http"]
JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

SERVE = [sys.executable, "-m", "lineshaft", "serve", "--http", "--port", "0"]

HANGS = """
from pathlib import Path
import anyio
from lineshaft import tool
@tool(effect='read')
async def hang() -> str:
    'Never answer.'
    Path('hangs').touch()
    await anyio.sleep_forever()
"""


@dataclass
class Served:
    """A server that has been started."""

    url: str
    process: "subprocess.Popen[str]"
    at: Path

    @asynccontextmanager
    async def client(
        self, mode: Mode = "auto", *, person: Person | None = None
    ) -> AsyncGenerator[Client]:
        """Give a client of it."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=person) as client:
                yield client

    def post(self, headers: dict[str, str], body: bytes | None = None) -> httpx2.Response:
        """Send something."""
        content = json.dumps(LIST).encode() if body is None else body
        return httpx2.post(self.url, content=content, headers={**JSON, **headers}, timeout=60)

    def opened(self, **capabilities: Any) -> dict[str, str]:
        """Open a session of the older protocol, and return what its requests show."""
        about = {"name": "raw", "version": "1"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": about}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        shown = {"Authorization": f"Bearer {TOKEN}"}
        answer = self.post(shown, json.dumps(body).encode())
        shown |= {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        self.post(shown, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return shown


@contextmanager
def started(at: Path, *command: str) -> Generator[Served]:
    process = subprocess.Popen(
        command,
        cwd=at,
        env={**os.environ, "TOKEN": TOKEN, "LINESHAFT_SERVE_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline().split()
        yield Served(said[-1], process, at)
    finally:
        end(process)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with started(tmp_path_factory.mktemp("shop"), *FRONT) as server:
        yield server


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_with_the_token_runs_scripts(mode: Mode, shop: Served) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message)

    async with shop.client(mode) as client:
        listed = [each.name for each in (await client.list_tools()).tools]
        code = "return await shop.orders(customer='ada')"
        ran = await client.call_tool("run", {"code": code}, progress_callback=hear)
    assert listed[:5] == ["search", "describe", "run", "resume", "status"]
    assert data_of(ran)["value"] == [1, 2]
    assert heard == ["call 1: shop.orders"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_person_approves_over_http(mode: Mode, shop: Served) -> None:
    person = Person([accepts(decision="approve all")])
    async with shop.client(mode, person=person) as client:
        ran = await client.call_tool("run", {"code": "return await put(what='x')"})
    assert data_of(ran)["value"] == "x"


@pytest.mark.no_cover
async def test_fifty_clients_at_once_get_their_own_results(shop: Served) -> None:
    """Half of them speak the older protocol, half the newest; each has a person of its own."""
    came: dict[int, object] = {}
    names: dict[int, str] = {}

    async def use(number: int) -> None:
        person = Person([accepts(decision="approve all")] * 2)
        async with shop.client(MODES[number % 2], person=person) as client:
            code = "return [await put(what=args[0]), await shop.total(order=1)]"
            ran = await client.call_tool("run", {"code": code, "args": [f"n{number}"]})
            came[number] = data_of(ran)["value"]
            names[number] = " ".join(asked.message for asked in person.asked)

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(use, number)
    assert came == {number: [f"n{number}", 10.5] for number in range(50)}
    assert all(f'"n{number}"' in text for number, text in names.items())


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": TOKEN},
    ],
)
@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
def test_nobody_comes_in_without_the_token(
    headers: dict[str, str], version: str, shop: Served
) -> None:
    more = {"MCP-Protocol-Version": version} if version else {}
    answer = shop.post(headers | more)
    assert answer.status_code == 401
    assert TOKEN not in answer.text
    assert "send this server's own" in answer.json()["error_description"]
    shown = bool(headers.get("Authorization", "").partition(" ")[2])
    assert ("error=" in answer.headers["WWW-Authenticate"]) == shown


@pytest.mark.parametrize("version", ["", "2025-11-25", "2026-07-28"])
def test_pages_of_other_sites_do_not_come_in(version: str, shop: Served) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    known |= {"MCP-Protocol-Version": version} if version else {}
    assert shop.post(known | {"Host": "example.org"}).status_code == 421
    assert shop.post(known | {"Origin": "http://example.org"}).status_code == 403
    assert shop.post(known | {"Origin": "null"}).status_code == 403


def test_a_page_of_a_known_origin_may_ask_what_it_may_send_and_read_the_answer(
    shop: Served,
) -> None:
    """A browser shows no token where it asks for leave (the Fetch standard, CORS-preflight)."""
    page = {"Origin": "http://localhost:6274"}
    wants = {"Access-Control-Request-Method": "POST"}
    wants |= {"Access-Control-Request-Headers": "authorization,content-type,mcp-session-id"}
    leave = httpx2.options(shop.url, headers=page | wants)
    assert leave.status_code == 200
    assert leave.headers["Access-Control-Allow-Origin"] == page["Origin"]
    assert "authorization" in leave.headers["Access-Control-Allow-Headers"]
    assert "POST" in leave.headers["Access-Control-Allow-Methods"]
    answer = shop.post(shop.opened() | page)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == page["Origin"]
    assert "Mcp-Session-Id" in answer.headers["Access-Control-Expose-Headers"]
    assert httpx2.options(shop.url, headers=page).status_code == 401
    other = httpx2.options(shop.url, headers=wants | {"Origin": "http://example.org"})
    assert other.status_code == 403
    assert "Access-Control-Allow-Origin" not in other.headers


def test_a_media_type_may_be_written_in_capitals(shop: Served) -> None:
    kind = {"Content-Type": "Application/JSON; charset=UTF-8"}
    assert shop.post(shop.opened() | kind).status_code == 200


@pytest.mark.parametrize("version", ["", "2025-11-25"])
def test_a_message_without_a_session_opens_none(version: str, shop: Served) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    known |= {"MCP-Protocol-Version": version} if version else {}
    notice = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    answers = [shop.post(known), shop.post(known, notice)]
    answers += [httpx2.get(shop.url, headers=JSON | known)]
    answers += [httpx2.delete(shop.url, headers=known)]
    for answer in answers:
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "Bad Request: Missing session ID"
        assert "mcp-session-id" not in answer.headers


def test_bad_bodies_are_refused_and_cost_nobody_else_anything(shop: Served) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    for version in ("2025-11-25", "2026-07-28"):
        more = {**known, "MCP-Protocol-Version": version}
        assert shop.post(more, b"not json").status_code == 400
        assert shop.post(more, b"[" * 100_000).status_code == 400
        assert shop.post(more, b"[]").status_code == 400
        assert shop.post(more, b"\xff\xfe").status_code == 400
        assert shop.post(more, b'"' + b"x" * 5_000_000 + b'"').status_code == 413
    unknown = shop.post(known | {"Mcp-Session-Id": "unknown"})
    assert unknown.status_code == 404
    assert unknown.json()["error"]["code"] == -32001
    assert httpx2.get(shop.url, headers=known).status_code in (400, 405, 406)
    assert httpx2.post(shop.url.replace("/mcp", "/"), headers=known).status_code == 404


BAD: dict[str, tuple[bytes, object, int, str]] = {
    "null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600, "whose id is neither"),
    "float": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600, "whose id is neither"),
    "bool": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600, "whose id is neither"),
    "no method": (b'{"jsonrpc":"2.0","id":5}', 5, -32600, "no JSON-RPC message"),
    "params": (b'{"jsonrpc":"2.0","id":"a","method":"ping","params":[1]}', "a", -32600, "no JSON"),
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600, "request of its own"),
    "cut": (b'{"jsonrpc":"2.0","id":4,"method":"ping"', 4, -32700, "a request that is no JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_body_that_is_no_message_is_answered_under_its_id(name: str, shop: Served) -> None:
    """The SDK takes a request for a notice where its id is of no kind that an id has."""
    body, request_id, code, says = BAD[name]
    session = shop.opened()
    answer = shop.post(session, body)
    assert answer.status_code == 400
    said = answer.json()
    assert (said["id"], said["error"]["code"]) == (request_id, code)
    assert says in said["error"]["message"]
    assert len(answer.text) < 500
    assert shop.post(session).status_code == 200


@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", "x"])
def test_a_version_that_nobody_knows_is_refused_in_a_session(version: str, shop: Served) -> None:
    session = shop.opened() | {"MCP-Protocol-Version": version}
    for body in (b'{"jsonrpc":"2.0","id":1,"result":{}}', json.dumps(LIST).encode()):
        answer = shop.post(session, body)
        assert answer.status_code == 400
        assert f"{version!r} is not spoken; spoken are 2024-11-05," in answer.text
    known = session | {"MCP-Protocol-Version": "2025-06-18"}
    assert shop.post(known).status_code == 200
    assert httpx2.delete(shop.url, headers=session).status_code == 400
    assert httpx2.delete(shop.url, headers=known).status_code == 200


async def test_an_answer_that_cannot_be_read_fails_its_question(shop: Served) -> None:
    """Its question does not wait on for another one."""
    run: dict[str, Any] = {}
    session = shop.opened(elicitation={})
    call = {"name": "run", "arguments": {"code": "return await put('x')"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    async with (
        httpx2.AsyncClient(headers={**JSON, **session}, timeout=60) as http,
        http.stream("POST", shop.url, json=body) as answer,
    ):
        said = (json.loads(line[6:]) async for line in answer.aiter_lines() if "{" in line)
        async for message in said:
            if message.get("method") == "elicitation/create":
                bad = {"jsonrpc": "2.0", "id": message["id"], "result": None}
                await http.post(shop.url, json=bad)
            elif "result" in message:
                run = message["result"]["_meta"]["lineshaft/run"]
    assert run["status"] in ("error", "paused", "refused")


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, "1"), ("x", "x")])
async def test_an_id_that_is_under_way_is_refused(
    first: object, second: object, shop: Served
) -> None:
    """The SDK tells answers apart by the text of their ids: one client would wait for good."""
    session = shop.opened()
    call = {"name": "run", "arguments": {"code": "return await hang()"}}
    body = {"jsonrpc": "2.0", "id": first, "method": "tools/call", "params": call}
    async with (
        httpx2.AsyncClient(headers={**JSON, **session}, timeout=60) as http,
        http.stream("POST", shop.url, json=body) as answer,
    ):
        refused = await http.post(shop.url, json={**LIST, "id": second})
        reason = {"requestId": first}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason}
        await http.post(shop.url, json=cancel)
        said = [line async for line in answer.aiter_lines() if "error" in line]
        listed = await http.post(shop.url, json={**LIST, "id": second})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)
    assert "is under way" in refused.json()["error"]["message"]
    assert "-32800" in said[0]
    assert "shop" in listed.text


def test_a_client_that_goes_in_the_middle_of_a_body_is_no_error(tmp_path: Path) -> None:
    with started(tmp_path, *FRONT) as server:
        host, _, port = server.url.split("/")[2].partition(":")
        known = {"Host": host, "Content-Length": "99", "MCP-Protocol-Version": "2026-07-28"}
        known |= {**JSON, "Authorization": f"Bearer {TOKEN}"}
        lines = ["POST /mcp HTTP/1.1", *(f"{name}: {text}" for name, text in known.items())]
        with socket.create_connection((host, int(port))) as client:
            client.sendall("\r\n".join([*lines, "", "{"]).encode())
        assert server.post(server.opened()).status_code == 200
        server.process.terminate()
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()


def test_an_id_of_a_request_that_was_refused_is_free(shop: Served) -> None:
    session = shop.opened()
    assert shop.post({**session, "Accept": "text/plain"}).status_code == 406
    assert shop.post(session).status_code == 200


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_ends_when_its_client_is_gone(mode: Mode, tmp_path: Path) -> None:
    with started(tmp_path, *FRONT) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(_call_hang, server, mode)
            await _until((tmp_path / "hangs").exists)
            group.cancel_scope.cancel()
        await _ended(tmp_path, "cancelled")


@pytest.mark.parametrize("mode", MODES)
async def test_it_ends_with_an_answer_to_those_who_wait(mode: Mode, tmp_path: Path) -> None:
    """A client of the older protocol has a stream open beside its request, which has no end."""
    answers: list[str] = []

    async def call(server: Served) -> None:
        async with server.client(mode) as client:
            try:
                await client.call_tool("run", {"code": "return await hang()"})
            except MCPError as error:
                answers.append(str(error))

    (tmp_path / "t.py").write_text(HANGS)
    with started(tmp_path, *SERVE, "--tools", "t.py") as server:
        async with anyio.create_task_group() as group:
            group.start_soon(call, server)
            await _until((tmp_path / "hangs").exists)
            server.process.send_signal(signal.SIGTERM)
        assert server.process.stderr is not None
        said = server.process.stderr.read()
        server.process.wait(timeout=15)
    assert answers == ["it was ended: the server ends"]
    assert (server.process.returncode, said) == (0, "")


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_ends_when_the_program_of_its_client_is_killed(
    mode: Mode, tmp_path: Path
) -> None:
    program = f"""
import anyio, httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
async def main(url):
    async with httpx2.AsyncClient(headers={{"Authorization": "Bearer {TOKEN}"}}) as http:
        async with Client(streamable_http_client(url, http_client=http), mode={mode!r}) as client:
            await client.call_tool("run", {{"code": "return await hang()"}})
import sys
anyio.run(main, sys.argv[1])
"""
    with started(tmp_path, *FRONT) as server:
        async with await anyio.open_process([sys.executable, "-c", program, server.url]) as client:
            await _until((tmp_path / "hangs").exists)
            client.kill()
        await _ended(tmp_path, "cancelled")


async def test_a_run_in_the_background_outlives_its_client(shop: Served) -> None:
    async with shop.client() as client:
        arguments = {"code": "return await shop.total(order=2)", "background": True}
        ran = await client.call_tool("run", arguments)
    async with shop.client("legacy") as other:
        with anyio.fail_after(30):
            while data_of(ran)["status"] == "running":
                ran = await other.call_tool("status", {"run_id": data_of(ran)["run_id"]})
    assert data_of(ran)["value"] == 4.5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_with_its_runs_recorded(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(HANGS)
    with started(tmp_path, *SERVE, "--tools", "t.py") as server:
        async with server.client("legacy") as client:
            arguments = {"code": "return await hang()", "background": True}
            ran = await client.call_tool("run", arguments)
            await _until((tmp_path / "hangs").exists)
            server.process.send_signal(number)
            server.process.wait(timeout=15)
    assert server.process.returncode == 0
    shown = await anyio.run_process(
        [sys.executable, "-m", "lineshaft", "show", data_of(ran)["run_id"], "--json"], cwd=tmp_path
    )
    assert json.loads(shown.stdout)["status"] == "cancelled"


def test_the_command_makes_and_prints_a_token_where_none_is_given(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "LINESHAFT_SERVE_TOKEN"}
    process = subprocess.Popen(
        [sys.executable, "-m", "lineshaft", "serve", "--http", "--port", "0"],
        cwd=tmp_path,
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        token = process.stderr.readline().split()[-1]
        url = process.stderr.readline().split()[-1]
        assert len(token) >= 32
        version = {"MCP-Protocol-Version": "2025-11-25"}
        answers = [
            httpx2.post(url, json=LIST, headers={**JSON, **version, "Authorization": shown})
            for shown in (f"Bearer {token}", "Bearer x")
        ]
    finally:
        end(process)
    assert [each.status_code for each in answers] == [400, 401]  # a session comes first


@pytest.mark.parametrize("token", ["", "short", "tokén-with-more-than-ascii"])
def test_a_token_that_is_none_is_refused(token: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lineshaft", "serve", "--http", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "LINESHAFT_SERVE_TOKEN": token},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "token" in done.stderr.lower()


def test_the_inspector_lists_describes_and_runs_over_http(shop: Served) -> None:
    def inspect(*words: str) -> dict[str, Any]:
        header = ["--header", f"Authorization: Bearer {TOKEN}", "--transport", "http"]
        command = [node(), str(npm_package("inspector")), "--cli", shop.url, *header, *words]
        done = subprocess.run(
            command, cwd=shop.at, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
        return cast("dict[str, Any]", json.loads(done.stdout))

    listed = inspect("--method", "tools/list")
    names = ["--tool-arg", 'names=["shop.orders"]']
    told = inspect("--method", "tools/call", "--tool-name", "describe", *names)
    code = ["--tool-arg", "code=return await shop.orders(customer='ada')"]
    ran = inspect("--method", "tools/call", "--tool-name", "run", *code)
    assert [each["name"] for each in listed["tools"]][:2] == ["search", "describe"]
    assert "customer: str" in told["content"][0]["text"]
    assert ran["_meta"]["lineshaft/run"]["value"] == [1, 2]


async def _call_hang(server: Served, mode: Mode) -> None:
    async with server.client(mode) as client:
        await client.call_tool("run", {"code": "return await hang()"})


async def _until(condition: Any) -> None:
    with anyio.fail_after(60):
        while not condition():
            await anyio.sleep(0.01)  # another process needs the processor more


async def _ended(at: Path, status: str) -> None:
    """Wait until the newest run has ended, and look how."""
    found = "running"
    with anyio.fail_after(30):
        while found == "running":
            await anyio.sleep(0.01)
            async with Store(at / "store.db") as store:
                found = (await store.runs())[0].status
    assert found == status
